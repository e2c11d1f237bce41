/**
 * The message box of a chat, made as chats make theirs: `window.box` says what its own model holds.
 *
 * `/chat/NAME` shows one of `BOXES`. Enter sends the message: `box.sent` has what was sent.
 */

import { history, historyKeymap, defaultKeymap } from "@codemirror/commands";
import { EditorState as Code } from "@codemirror/state";
import { EditorView as CodeView, keymap as codeKeys, placeholder } from "@codemirror/view";
import { createEmptyHistoryState, registerHistory } from "@lexical/history";
import { registerPlainText } from "@lexical/plain-text";
import * as lexical from "lexical";
import { baseKeymap } from "prosemirror-commands";
import { history as proseHistory, redo, undo } from "prosemirror-history";
import { keymap as proseKeys } from "prosemirror-keymap";
import { schema } from "prosemirror-schema-basic";
import { EditorState as Prose } from "prosemirror-state";
import { EditorView as ProseView } from "prosemirror-view";
import Quill from "quill";
import { createElement, useState } from "react";
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";

const LABEL = "Message";
const made = (name, given = {}) => Object.assign(document.createElement(name), given);
const typed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

/** Each takes where it stands, and returns its element and its model's text, to get and to set. */
const BOXES = {
  textarea(place) {
    const node = place.appendChild(made("textarea", { ariaLabel: LABEL }));
    return { node, text: () => node.value, set: (text) => (node.value = text) };
  },

  react(place) {
    let [message, change] = ["", null];
    function Message() {
      [message, change] = useState("");
      const onChange = ({ target }) => change(target.value);
      return createElement("textarea", { "aria-label": LABEL, value: message, onChange });
    }
    flushSync(() => createRoot(place).render(createElement(Message)));
    const node = place.querySelector("textarea");
    return { node, text: () => message, set: (text) => flushSync(() => change(text)) };
  },

  contenteditable(place) {
    const node = place.appendChild(made("div", { contentEditable: "true", ariaLabel: LABEL }));
    const set = (text) => {
      const kept = text.replace(/^[ \t]|[ \t]$|(?<=[ \t])[ \t]/gm, "\u00a0"); // as browsers type them
      const lines = kept.split("\n").map((each) => made("div", { textContent: each }));
      lines.filter((each) => !each.textContent).forEach((each) => each.append(made("br")));
      node.replaceChildren(...lines);
      typed(node);
    };
    const text = () => [...node.childNodes].map((each) => each.textContent).join("\n");
    return { node, text: () => text().replace(/[\t\u00a0]/g, " "), set };
  },

  prosemirror(place) {
    const keys = proseKeys({ "Mod-z": undo, "Mod-y": redo, ...baseKeymap });
    const state = Prose.create({ schema, plugins: [proseHistory(), keys] });
    const view = new ProseView(place, { state, attributes: { "aria-label": LABEL } });
    const paragraph = (text) => schema.node("paragraph", null, text ? [schema.text(text)] : []);
    const set = (text) => {
      const lines = text.split("\n").map(paragraph);
      view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, lines));
    };
    const text = () => view.state.doc.textBetween(0, view.state.doc.content.size, "\n");
    return { node: view.dom, text, set };
  },

  lexical(place) {
    const node = place.appendChild(made("div", { contentEditable: "true", ariaLabel: LABEL }));
    const editor = lexical.createEditor({ onError: (error) => { throw error; } });
    editor.setRootElement(node);
    registerPlainText(editor);
    registerHistory(editor, createEmptyHistoryState(), 300);
    const fill = (text) => {
      const paragraph = lexical.$createParagraphNode();
      text.split("\n").forEach((line, index) => {
        paragraph.append(...(index ? [lexical.$createLineBreakNode()] : []));
        paragraph.append(...(line ? [lexical.$createTextNode(line)] : []));
      });
      lexical.$getRoot().clear().append(paragraph);
    };
    editor.update(() => fill(""), { discrete: true });
    const set = (text) => editor.update(() => fill(text), { discrete: true });
    const text = () => editor.getEditorState().read(() => lexical.$getRoot().getTextContent());
    return { node, text, set };
  },

  quill(place) {
    const quill = new Quill(place.appendChild(made("div")), { placeholder: "Ask anything" });
    const set = (text) => quill.setText(`${text}\n`, "user");
    return { node: quill.root, text: () => quill.getText().slice(0, -1), set };
  },

  codemirror(place) {
    const keys = codeKeys.of([...defaultKeymap, ...historyKeymap]);
    const wraps = [CodeView.lineWrapping, placeholder("Ask anything")];
    const state = Code.create({ extensions: [history(), keys, ...wraps] });
    const view = new CodeView({ state, parent: place });
    const set = (text) =>
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    return { node: view.contentDOM, text: () => view.state.doc.toString(), set };
  },
};

const [, , name] = location.pathname.split("/");
const box = BOXES[name](document.querySelector("#box"));
box.sent = [];
const now = Date.now;
box.wait = (milliseconds) => { // by the clock that editors read
  Date.now = () => now() + milliseconds;
};
box.node.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    box.sent.push(box.text());
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);
document.querySelector("form").addEventListener("submit", (event) => {
  box.sent.push(box.text());
  event.preventDefault();
});
window.box = box;
box.node.focus();
