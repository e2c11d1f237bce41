/** Answers each line of its input, [module, function, arguments], with a line: what it returns. */

import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const [module, name, given] = JSON.parse(line);
  const found = await import(module);
  console.log(JSON.stringify([(await found[name](...given)) ?? null]));
}
