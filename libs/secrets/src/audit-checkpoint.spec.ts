import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { CheckpointKeys, CheckpointSigner, newSigningKey } from './audit-checkpoint';

const END = {
  organizationId: '11111111-1111-4111-8111-111111111111',
  position: '42',
  hash: 'ab'.repeat(32),
  signedAt: '2026-01-31T09:30:00.000Z',
};

describe('signed checkpoints', () => {
  const pem = newSigningKey();
  const checkpoint = CheckpointSigner.read(pem)!.sign(END);
  const keys = new CheckpointKeys();
  keys.add(createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' }).toString());

  it('are valid under the public half of a private key', () => {
    const other = new CheckpointKeys();
    expect([other.isEmpty, other.add(pem), other.isEmpty]).toEqual([true, true, false]);
    expect(other.problemOf(checkpoint)).toBeNull();
  });

  it.each([
    ['organizationId', '22222222-2222-4222-8222-222222222222'],
    ['position', '43'],
    ['hash', 'cd'.repeat(32)],
    ['signedAt', '2026-01-31T09:30:00.001Z'],
    ['signature', 'AAAA'],
  ])('are invalid with another %s', (field, value) => {
    expect(keys.problemOf({ ...checkpoint, [field]: value })).toContain('not valid');
  });

  it('are invalid under another key, and the message names the key', () => {
    const other = CheckpointSigner.read(newSigningKey())!;
    expect(keys.problemOf(other.sign(END))).toContain(other.keyId);
    expect(keys.problemOf({ ...other.sign(END), keyId: checkpoint.keyId })).toContain('not valid');
  });

  it('accept Ed25519 keys only', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    expect(CheckpointSigner.read(rsa.toString())).toBeNull();
    expect(CheckpointSigner.read('')).toBeNull();
    expect(new CheckpointKeys().add(rsa.toString())).toBe(false);
    expect(new CheckpointKeys().add('none')).toBe(false);
  });
});
