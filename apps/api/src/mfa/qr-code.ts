import { crc32, deflateSync } from 'node:zlib';
// oxlint-disable-next-line import/no-named-as-default -- the function is what CommonJS gets
import qrcode from 'qrcode-generator';

const PIXELS_PER_MODULE = 4;
const QUIET_MODULES = 4;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A QR code of a text as a 1-bit PNG, black on white. */
export function qrCodePng(text: string): Buffer {
  // 0: the smallest version that fits the text; M: tolerates 15 % damage
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const modules = code.getModuleCount();
  const size = (modules + 2 * QUIET_MODULES) * PIXELS_PER_MODULE;
  const isDark = (x: number, y: number): boolean => {
    const [column, row] = [x, y].map((pixel) => Math.floor(pixel / PIXELS_PER_MODULE) - QUIET_MODULES);
    const isInside = [column, row].every((index) => index! >= 0 && index! < modules);
    return isInside && code.isDark(row!, column!);
  };
  return png(size, isDark);
}

/** @param isBlack by pixel, from the upper left */
function png(size: number, isBlack: (x: number, y: number) => boolean): Buffer {
  const rowBytes = 1 + Math.ceil(size / 8);
  const rows = Buffer.alloc(rowBytes * size);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      // each row starts with its filter type (0: none); a set bit is white
      if (!isBlack(x, y)) rows[y * rowBytes + 1 + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // bit depth 1, greyscale
  header[8] = 1;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
