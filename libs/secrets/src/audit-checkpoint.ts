import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';

/** The end of an organization's chain of audit records, as it is signed. */
export interface ChainEnd {
  readonly organizationId: string;
  readonly position: string;
  readonly hash: string;
  /** ISO 8601, UTC, milliseconds */
  readonly signedAt: string;
}

export interface SignedCheckpoint extends ChainEnd {
  readonly keyId: string;
  /** base64 */
  readonly signature: string;
}

/**
 * The signed text, UTF-8, each line with a line feed. It can be verified with the public key alone:
 *
 *     drawbridge audit checkpoint 1
 *     <organization id>
 *     <position>
 *     <hash>
 *     <time of signing>
 */
const signedText = ({ organizationId, position, hash, signedAt }: ChainEnd): Buffer =>
  Buffer.from(
    `drawbridge audit checkpoint 1\n${organizationId}\n${position}\n${hash}\n${signedAt}\n`,
    'utf8',
  );

/** The id of a public key: the first 16 hex digits of its SHA-256. */
const keyIdOf = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

/** A new private key, as PEM. */
export const newSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Signs ends of chains. Never prints its key. */
export class CheckpointSigner {
  readonly #key: KeyObject;
  readonly keyId: string;

  private constructor(key: KeyObject) {
    this.#key = key;
    this.keyId = keyIdOf(createPublicKey(key));
  }

  /** @param pem PKCS #8 @returns null when it holds no Ed25519 private key */
  static read(pem: string): CheckpointSigner | null {
    try {
      const key = createPrivateKey(pem);
      return key.asymmetricKeyType === 'ed25519' ? new CheckpointSigner(key) : null;
    } catch {
      return null;
    }
  }

  sign(end: ChainEnd): SignedCheckpoint {
    return {
      ...end,
      keyId: this.keyId,
      signature: sign(null, signedText(end), this.#key).toString('base64'),
    };
  }
}

/** The public keys of checkpoints: the current one and previous ones. */
export class CheckpointKeys {
  private readonly keys = new Map<string, KeyObject>();

  /** @param pem a public key, or a private one, whose public half is used. @returns false when it is neither */
  add(pem: string): boolean {
    try {
      const key = createPublicKey(pem);
      if (key.asymmetricKeyType !== 'ed25519') return false;
      this.keys.set(keyIdOf(key), key);
      return true;
    } catch {
      return false;
    }
  }

  get isEmpty(): boolean {
    return this.keys.size === 0;
  }

  /** @returns why the signature is invalid, as a predicate of "the checkpoint"; null when it is valid */
  problemOf(checkpoint: SignedCheckpoint): string | null {
    const key = this.keys.get(checkpoint.keyId);
    if (!key)
      return `is signed by the key ${checkpoint.keyId}, which was not given: name its public key with --public-key, too`;
    const signature = Buffer.from(checkpoint.signature, 'base64');
    return verify(null, signedText(checkpoint), key, signature) ? null : 'has a signature that is not valid';
  }
}
