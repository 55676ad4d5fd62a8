// Stands between the page and its node: answers some operations itself, sends frames of its own on the feed, and passes on
// everything else. For the page it is the node: its requests are real ones, and no driver stands in their way.
import { createHash } from "node:crypto";
import { createServer, request } from "node:http";

const ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** A text as one frame of a WebSocket, from the server's side. */
function framed(text) {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? Buffer.from([0x81, body.length])
      : body.length < 65_536
        ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
        : Buffer.concat([
            Buffer.from([0x81, 127, 0, 0, 0, 0]),
            Buffer.from(new Uint32Array([body.length]).buffer).reverse(),
          ]);
  return Buffer.concat([head, body]);
}

/**
 * @param {string} address of the node, as its console is opened
 * @param {Record<string, (input: any) => unknown>} answers
 * @param {() => object} frame the next one
 * @param {number} everyMs
 */
export async function stage(address, answers, frame, everyMs) {
  const node = new URL(address);
  const server = createServer((asked, answer) => {
    const op = asked.url?.startsWith("/api/") ? asked.url.slice("/api/".length) : "";
    const own = answers[op];
    if (own) {
      let text = "";
      asked.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      asked.on("end", () => {
        answer.setHeader("content-type", "application/json");
        answer.end(JSON.stringify(own(JSON.parse(text || "{}").input ?? {})));
      });
      return;
    }
    const headers = { ...asked.headers, host: node.host, ...(asked.headers.origin ? { origin: node.origin } : {}) };
    const on = request(
      { host: node.hostname, port: node.port, method: asked.method, path: asked.url, headers },
      (got) => {
        const policy = got.headers["content-security-policy"]?.replaceAll(node.port, String(port));
        answer.writeHead(got.statusCode ?? 502, {
          ...got.headers,
          ...(policy ? { "content-security-policy": policy } : {}),
        });
        got.pipe(answer);
      },
    );
    on.on("error", () => answer.writeHead(502).end());
    asked.pipe(on);
  });
  server.on("upgrade", (asked, socket) => {
    const key = createHash("sha1")
      .update(asked.headers["sec-websocket-key"] + ACCEPT)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    );
    const beat = setInterval(() => socket.write(framed(JSON.stringify(frame()))), everyMs);
    const end = () => clearInterval(beat);
    socket.on("close", end);
    socket.on("error", end);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const opened = new URL(address);
  opened.port = String(port);
  return {
    address: opened.href,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
