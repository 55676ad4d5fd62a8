// Does to a window what a window manager does when a person closes it, and tells whether it is shown. Speaks the little
// of the X protocol that this takes: a bare virtual display has no window manager to ask.
import { connect } from "node:net";

const VIEWABLE = 2;
const UTF8_OR_ANY = 0;

/** One connection, one question at a time. */
async function open(display) {
  const socket = connect(`/tmp/.X11-unix/X${display}`);
  let buffered = Buffer.alloc(0);
  let wake = () => {};
  socket.on("data", (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    wake();
  });
  let broken = null;
  socket.on("error", (error) => {
    broken = error;
    wake();
  });
  const take = async (n) => {
    while (buffered.length < n) {
      if (broken) throw broken;
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
    const taken = buffered.subarray(0, n);
    buffered = buffered.subarray(n);
    return taken;
  };

  const hello = Buffer.alloc(12);
  hello.write("l", 0);
  hello.writeUInt16LE(11, 2);
  socket.write(hello);
  const head = await take(8);
  const setup = await take(head.readUInt16LE(6) * 4);
  if (head[0] !== 1) throw new Error(`the display refused: ${setup.toString("latin1")}`);
  const vendor = (setup.readUInt16LE(16) + 3) & ~3;
  const root = setup.readUInt32LE(32 + vendor + setup[21] * 8);

  const answer = async () => {
    for (;;) {
      const first = await take(32);
      if (first[0] === 0) throw new Error(`X error ${first[1]}`);
      if (first[0] !== 1) continue;
      return Buffer.concat([first, await take(first.readUInt32LE(4) * 4)]);
    }
  };
  const request = (opcode, detail, ...words) => {
    const buffer = Buffer.alloc(4 + words.length * 4);
    buffer[0] = opcode;
    buffer[1] = detail;
    buffer.writeUInt16LE(1 + words.length, 2);
    for (const [i, word] of words.entries()) buffer.writeUInt32LE(word >>> 0, 4 + i * 4);
    return buffer;
  };

  return {
    root,
    close: () => socket.destroy(),
    async atom(name) {
      const padded = Buffer.alloc((name.length + 3) & ~3);
      padded.write(name, "latin1");
      const head = request(16, 0, name.length);
      head.writeUInt16LE(2 + padded.length / 4, 2);
      socket.write(Buffer.concat([head, padded]));
      return (await answer()).readUInt32LE(8);
    },
    async children(window) {
      socket.write(request(15, 0, window));
      const reply = await answer();
      return Array.from({ length: reply.readUInt16LE(16) }, (_, i) => reply.readUInt32LE(32 + i * 4));
    },
    async property(window, atom) {
      socket.write(request(20, 0, window, atom, UTF8_OR_ANY, 0, 1024));
      const reply = await answer();
      return reply.subarray(32, 32 + (reply.readUInt32LE(16) * reply[1]) / 8);
    },
    async shown(window) {
      socket.write(request(3, 0, window));
      return (await answer())[26] === VIEWABLE;
    },
    send(window, type, ...data) {
      const event = Buffer.alloc(32);
      event[0] = 33;
      event[1] = 32;
      event.writeUInt32LE(window, 4);
      event.writeUInt32LE(type, 8);
      for (const [i, word] of data.entries()) event.writeUInt32LE(word >>> 0, 12 + i * 4);
      const head = request(25, 0, window, 0);
      head.writeUInt16LE(11, 2);
      socket.write(Buffer.concat([head, event]));
    },
  };
}

/** The windows of a title that a person could close. */
async function closable(x, title) {
  const [name, protocols, deletes] = [
    await x.atom("WM_NAME"),
    await x.atom("WM_PROTOCOLS"),
    await x.atom("WM_DELETE_WINDOW"),
  ];
  const found = [];
  for (const window of await x.children(x.root)) {
    if ((await x.property(window, name)).toString("utf8") !== title) continue;
    const known = await x.property(window, protocols);
    const closes = Array.from({ length: known.length / 4 }, (_, i) => known.readUInt32LE(i * 4)).includes(deletes);
    if (closes) found.push(window);
  }
  return { found, protocols, deletes };
}

/** Presses the cross in the corner. */
export async function closeWindow(display, title) {
  const x = await open(display);
  try {
    const { found, protocols, deletes } = await closable(x, title);
    if (found.length === 0) throw new Error(`no window called ${title} is there`);
    for (const window of found) x.send(window, protocols, deletes, 0);
    // An answered question means that what was sent before it has arrived.
    await x.children(x.root);
  } finally {
    x.close();
  }
}

/** Whether a window of this title can be seen. */
export async function isShown(display, title) {
  const x = await open(display);
  try {
    const { found } = await closable(x, title);
    for (const window of found) if (await x.shown(window)) return true;
    return false;
  } finally {
    x.close();
  }
}
