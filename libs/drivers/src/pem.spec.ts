import { generateKeyPairSync } from 'node:crypto';
import { repairPem } from './pem';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();

describe('repairPem', () => {
  it.each([
    ['with \\n for each line break', PEM.replaceAll('\n', '\\n')],
    ['with \\r\\n for each line break', PEM.replaceAll('\n', '\\r\\n')],
    ['with CRLF', PEM.replaceAll('\n', '\r\n')],
    ['in one line', PEM.replaceAll('\n', ' ')],
    ['without line breaks', PEM.replaceAll('\n', '')],
    ['between quotes, as in the key file', `"${PEM.replaceAll('\n', '\\n')}\\n",`],
    ['in its usual form', PEM],
  ])('restores a key %s', (_, text) => {
    expect(repairPem(text)).toBe(PEM);
  });

  it.each(['', 'secret', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
    'keeps %j',
    (text) => {
      expect(repairPem(text)).toBe(text);
    },
  );
});
