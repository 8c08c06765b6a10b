import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate for 127.0.0.1, and the private authority that it is by. */
export class Certificates {
  private readonly folder = mkdtempSync(join(tmpdir(), 'drawbridge-certificates-'));
  readonly authorityFile = join(this.folder, 'authority.pem');
  readonly certFile = join(this.folder, 'server.pem');
  readonly keyFile = join(this.folder, 'server.key');

  constructor() {
    const authorityKey = join(this.folder, 'authority.key');
    const made = (name: string, key: string, file: string, ...more: readonly string[]): void =>
      this.openssl(
        'req',
        ...`-x509 -newkey rsa:2048 -noenc -days 2 -subj /CN=${name} -keyout ${key} -out ${file}`.split(' '),
        ...more,
      );
    made('authority', authorityKey, this.authorityFile);
    const by = ['-CA', this.authorityFile, '-CAkey', authorityKey];
    made(
      'server',
      this.keyFile,
      this.certFile,
      ...by,
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-addext',
      'basicConstraints=CA:FALSE',
    );
  }

  get server(): { readonly key: string; readonly cert: string } {
    return { key: readFileSync(this.keyFile, 'utf8'), cert: readFileSync(this.certFile, 'utf8') };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'ignore' });
  }
}
