import { inflateSync } from 'node:zlib';
// oxlint-disable-next-line import/no-named-as-default -- the function is what CommonJS gets
import qrcode from 'qrcode-generator';
import { qrCodePng } from './qr-code';

const TEXT = 'otpauth://totp/Drawbridge:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Drawbridge';
const MARGIN = 4;
const SCALE = 4;

/** The QR modules of a 1-bit PNG; true: dark. */
function modulesOf(png: Buffer): boolean[][] {
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const size = png.readUInt32BE(16);
  const start = png.indexOf('IDAT') + 4;
  const rows = inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)));
  const rowBytes = rows.length / size;
  const isDark = (x: number, y: number): boolean =>
    (rows[y * rowBytes + 1 + (x >> 3)]! & (0x80 >> (x & 7))) === 0;
  const count = size / SCALE;
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: count }, (_column, column) => isDark(column * SCALE + 2, row * SCALE + 1)),
  );
}

describe('qrCodePng', () => {
  it('returns a PNG of the code’s modules with a quiet zone', () => {
    const code = qrcode(0, 'M');
    code.addData(TEXT);
    code.make();
    const count = code.getModuleCount();
    const found = modulesOf(qrCodePng(TEXT));
    expect(found).toHaveLength(count + 2 * MARGIN);
    const expected = found.map((row, y) =>
      row.map((_, x) => {
        const [r, c] = [y - MARGIN, x - MARGIN];
        return r >= 0 && c >= 0 && r < count && c < count && code.isDark(r, c);
      }),
    );
    expect(found).toEqual(expected);
    expect(found.flat().filter(Boolean).length).toBeGreaterThan(count * 5);
  });
});
