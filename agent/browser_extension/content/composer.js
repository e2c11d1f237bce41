/**
 * The message that the user writes in a chat: it is read, and a line is put at its end, when the
 * popup asks for that.
 *
 * The browser runs this in a world of its own, where it leaves `composed` to be called. The page
 * sees the selection and the text as they change when a line is put in, and nothing before.
 */
(() => {
  const SETTLED = 60; // milliseconds in which an editor takes up what has changed
  const [SPACES, EDGES] = ["\0", /^\0+|\0+$/g]; // of spaces that a browser shows as one, or as none

  /**
   * @typedef {object} Found
   * @property {string} [text] of the message, as it stands now
   * @property {"elsewhere" | "no message" | "other frame" | "closed" | "in part" | "changed"
   *   | "too long" | "not put in"} [fault] why nothing was done
   */

  /** What has the focus, in open shadow trees and frames of the same origin too. */
  function focused(root) {
    const node = root.activeElement;
    const within = node?.shadowRoot ?? (node?.localName === "iframe" ? node.contentDocument : null);
    return within?.activeElement ? focused(within) : node;
  }

  /** The whole that is edited: what has the focus may be a part of it. */
  function hostOf(node) {
    return node.parentElement?.isContentEditable ? hostOf(node.parentElement) : node;
  }

  /** Whether an editor shows a node beside the text, such as a hint in an empty message. */
  const isBeside = (node) => node.ariaHidden === "true" || /^(?:script|style)$/.test(node.localName);

  /** Lines as they are shown: text is added to the last, unless that is over. */
  class Lines {
    #all = [""];
    #begun = false;
    #over = false;

    add(text) {
      if (this.#begun && this.#over) {
        this.#all.push("");
      }
      this.#all.push(this.#all.pop() + text);
      [this.#begun, this.#over] = [true, false];
    }

    /** Add text of which a browser shows spaces in a row as one, and none at the edges of a line. */
    addFolded(text) {
      const folded = text.replace(/[ \t\r\n]+/g, SPACES).replaceAll("\u00a0", " ");
      if (folded !== SPACES || (this.#begun && !this.#over)) {
        this.add(folded);
      }
    }

    end() {
      this.#over = true;
    }

    toString() {
      return this.#all.map((each) => each.replace(EDGES, "").replace(/\0+/g, " ")).join("\n");
    }
  }

  /** Add what a node shows to the lines. */
  function show(node, lines) {
    const view = node.ownerDocument.defaultView;
    if (node.nodeType === Node.TEXT_NODE) {
      const folds = view.getComputedStyle(node.parentElement).whiteSpaceCollapse === "collapse";
      node.data && (folds ? lines.addFolded(node.data) : lines.add(node.data));
    } else if (node.localName === "br") {
      lines.add("");
      lines.end();
    } else if (node.nodeType === Node.ELEMENT_NODE && !isBeside(node)) {
      const { display } = view.getComputedStyle(node);
      const apart = !/^(?:inline|contents|none)/.test(display);
      apart && lines.end();
      display !== "none" && node.childNodes.forEach((each) => show(each, lines));
      apart && lines.end();
    }
  }

  /** The text of an element; null where its editor leaves out what is not in view. */
  function shown(element) {
    const lines = new Lines();
    element.childNodes.forEach((each) => show(each, lines));
    return element.querySelector(".cm-gap") ? null : String(lines); // the class is CodeMirror's
  }

  /** Where the text of an element ends, as a node and an offset. */
  function endOf(element) {
    const last = [...element.childNodes].findLast((each) => !isBeside(each));
    if (!last || last.localName === "br") {
      return [element, last ? [...element.childNodes].indexOf(last) : 0];
    }
    if (last.nodeType === Node.TEXT_NODE) {
      return [last, last.length];
    }
    return last.isContentEditable ? endOf(last) : [element, element.childNodes.length];
  }

  /** The message that has the focus: its element, and how it is read; or what is there instead. */
  function messageOf(origin) {
    if (location.origin !== origin) {
      return { fault: "elsewhere" };
    }
    const focus = focused(document);
    const plain = focus?.localName === "textarea";
    if (!plain && !focus?.isContentEditable) {
      return { fault: focus?.localName === "iframe" ? "other frame" : "no message" };
    }
    const box = plain ? focus : hostOf(focus);
    const read = () => (plain ? box.value : shown(box));
    const text = read();
    if (text === null || (plain && (box.disabled || box.readOnly))) {
      return { fault: text === null ? "in part" : "closed" };
    }
    return { box, plain, text, read, isFocused: () => focused(document) === focus };
  }

  /** Put a text at the end of a message; what cannot stay as it was put in is taken back. */
  async function add(added, { box, plain, text, read, isFocused }) {
    const page = box.ownerDocument;
    const toEnd = () => {
      if (plain) {
        box.setSelectionRange(text.length, text.length);
      } else {
        page.getSelection().collapse(...endOf(box));
      }
    };
    toEnd();
    await settled();
    if (read() !== text || !isFocused()) {
      return { text: read(), fault: "changed" };
    }
    toEnd(); // while the popup has the focus, an editor may put back what it takes for the selection
    page.execCommand("insertText", false, added);
    await settled();
    if (read() === text + added) {
      return { text: text + added };
    }
    if (read() !== text) {
      const how = { inputType: "historyUndo", cancelable: true, bubbles: true };
      // An editor that keeps its own history takes the event, and for others the browser has one.
      if (box.dispatchEvent(new InputEvent("beforeinput", how))) {
        page.execCommand("undo");
      }
      await settled();
    }
    return { text: read(), fault: "not put in" };
  }

  const settled = () => new Promise((done) => setTimeout(done, SETTLED));

  /**
   * Read the message that has the focus, or put a line at its end.
   * @param {string} origin that the page must have
   * @param {string | null} before the message as it was read; null to read it
   * @param {string} line to be put in
   * @param {boolean} put whether it is, and not only whether it could be
   * @returns {Promise<Found>}
   */
  async function composed(origin, before, line, put) {
    const message = messageOf(origin);
    const { box, plain, text, fault } = message;
    if (fault || before === null) {
      return fault ? { fault } : { text };
    }
    if (text !== before) {
      return { text, fault: "changed" };
    }
    const added = (/(?:^|\s)$/.test(text) ? "" : plain ? "\n\n" : " ") + line;
    if (plain && box.maxLength >= 0 && text.length + added.length > box.maxLength) {
      return { text, fault: "too long" };
    }
    return put ? add(added, message) : { text };
  }

  Object.assign(globalThis, { composed });
})();
