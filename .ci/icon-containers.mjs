// Packs PNGs of several sizes into icon.ico (Windows) and icon.icns (macOS). Called by .ci/icons with a folder that
// holds <size>.png for each size named here. Both formats are a table of contents followed by the PNGs as they are.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, icoFile, icnsFile] = process.argv.slice(2);
const png = (size) => readFileSync(join(folder, `${size}.png`));

function ico(sizes) {
  const pictures = sizes.map(png);
  const contents = Buffer.alloc(6 + 16 * sizes.length);
  contents.writeUInt16LE(1, 2);
  contents.writeUInt16LE(sizes.length, 4);
  let offset = contents.length;
  sizes.forEach((size, index) => {
    const entry = 6 + 16 * index;
    const side = size === 256 ? 0 : size; // a byte cannot say 256; zero stands for it
    contents.writeUInt8(side, entry);
    contents.writeUInt8(side, entry + 1);
    contents.writeUInt16LE(1, entry + 4);
    contents.writeUInt16LE(32, entry + 6);
    contents.writeUInt32LE(pictures[index].length, entry + 8);
    contents.writeUInt32LE(offset, entry + 12);
    offset += pictures[index].length;
  });
  return Buffer.concat([contents, ...pictures]);
}

function icns(kinds) {
  const chunks = kinds.map(([kind, size]) => {
    const picture = png(size);
    const head = Buffer.alloc(8);
    head.write(kind, "latin1");
    head.writeUInt32BE(8 + picture.length, 4);
    return Buffer.concat([head, picture]);
  });
  const head = Buffer.alloc(8);
  head.write("icns", "latin1");
  head.writeUInt32BE(8 + chunks.reduce((sum, chunk) => sum + chunk.length, 0), 4);
  return Buffer.concat([head, ...chunks]);
}

writeFileSync(icoFile, ico([16, 24, 32, 48, 64, 128, 256]));
// The kinds of ic11 to ic14 are the same pictures for screens of twice the density.
writeFileSync(
  icnsFile,
  icns([
    ["icp4", 16],
    ["icp5", 32],
    ["icp6", 64],
    ["ic07", 128],
    ["ic08", 256],
    ["ic09", 512],
    ["ic10", 1024],
    ["ic11", 32],
    ["ic12", 64],
    ["ic13", 256],
    ["ic14", 512],
  ]),
);
