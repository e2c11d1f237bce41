/**
 * Ask Reticent's daemon what a request may carry: Node alone, this file is all you need.
 *
 *     const answer = await decide("version control", "forge.example");
 *     const headers = answer.header ? { "Shared-Attributes": answer.header } : {};
 *
 * Nothing here throws or takes longer than `limit` milliseconds: whatever fails attaches nothing.
 * Nothing is asked twice, and an answer that came too late stands in the ledger as told.
 *
 *     node examples/clients/reticent_client.mjs forge.example "version control" [FACT...]
 *
 * With - in place of the query it is read from the standard input: every user of the machine can
 * read the arguments of a running command.
 */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const LIMIT = 2000; // milliseconds
const LARGEST = 1 << 20; // bytes of an answer
const OK = 200;
const ABSENT = "no daemon runs; start it with `reticent daemon`";
const USAGE =
  "reticent: expected RECIPIENT QUERY [FACT...]; - reads the query from standard input";
const BROKEN = "the daemon did not answer in time, or not as it should";

/** Return where the daemon listens, on Linux, as these variables of the environment say. */
export function socketPath(variables = process.env) {
  if (variables.RETICENT_HOME) return join(resolve(variables.RETICENT_HOME), "run", "query.sock");
  const runtime = variables.XDG_RUNTIME_DIR ?? "";
  if (isAbsolute(runtime)) return join(runtime, "reticent", "query.sock");
  const state = (variables.XDG_STATE_HOME ?? "").trim();
  const base = isAbsolute(state) ? state : join(homedir(), ".local", "state");
  return join(base, "reticent", "run", "query.sock");
}

/**
 * Return what a request may carry: `header`, the value of Shared-Attributes, empty for nothing;
 * `attributes`, the same by name; `said`, the daemon's code, "answered" in the ordinary case, or a
 * sentence on what is wrong. `asked`: names that the recipient can use, null for any.
 */
export async function decide(query, recipient, asked = null, limit = LIMIT) {
  try {
    return answered(await call("decide", { query, recipient, asked }, limit));
  } catch (error) {
    return nothing(["ENOENT", "ECONNREFUSED"].includes(error.code) ? ABSENT : BROKEN);
  }
}

/** Queue what a recipient says it can use, for the user's consent; return whether it is. */
export async function offer(recipient, names, limit = LIMIT) {
  try {
    return (await call("offer", { recipient, names }, limit)).status === OK;
  } catch {
    return false;
  }
}

function nothing(said) {
  return { header: "", attributes: {}, said };
}

/** Return what an answer says, nothing to attach unless all of it is text as it should be. */
function answered({ status, message }) {
  if (status !== OK) return nothing(`the daemon refused: ${message.what}`);
  const { code, header, attributes } = message;
  const texts = [code, header, ...Object.values(attributes)];
  const all = !Array.isArray(attributes) && texts.every((each) => typeof each === "string");
  if (!all || !/^[ -~]*$/.test(header)) {
    throw new Error(BROKEN);
  }
  return { header, attributes, said: code };
}

/** Return the status and the message of an answer that is whole; it throws for any other. */
function call(name, message, limit) {
  const body = Buffer.from(JSON.stringify(message));
  const options = {
    socketPath: socketPath(),
    path: `/v1/${name}`,
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Length": body.length },
    agent: false, // a connection of its own, which ends with the answer
    signal: AbortSignal.timeout(limit), // of everything until the last byte
  };
  return new Promise((resolved, rejected) => {
    const asking = request(options, (response) => received(response).then(resolved, rejected));
    asking.on("error", rejected);
    asking.end(body);
  });
}

async function received(response) {
  const parts = [];
  let length = 0;
  for await (const part of response) {
    parts.push(part);
    if ((length += part.length) > LARGEST) throw new Error(BROKEN);
  }
  return { status: response.statusCode, message: JSON.parse(Buffer.concat(parts).toString()) };
}

/** Print the header for a request, or else say why there is none. */
async function main(recipient, query, ...asked) {
  if (query === undefined) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const text = query === "-" ? readFileSync(0, "utf8").replace(/[\r\n]+$/, "") : query;
  const answer = await decide(text, recipient, asked.length ? asked : null);
  if (answer.header) console.log(`Shared-Attributes: ${answer.header}`);
  if (answer.said !== "answered") console.error(`reticent: ${answer.said}`);
}

const script = process.argv[1] ?? ""; // no script at all under `node -e`
if (existsSync(script) && pathToFileURL(realpathSync(script)).href === import.meta.url) {
  await main(...process.argv.slice(2));
}
