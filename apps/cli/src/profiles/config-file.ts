import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { usageFailure } from '../exit-codes';
import { runLocked } from './file-lock';
import { isMissing } from './system-error';

/** Where a user signs in, and with what. */
export interface Profile {
  /** without `/api/v1` */
  readonly url: string;
  readonly apiKey?: string;
  readonly email?: string;
  readonly tokens?: Tokens;
  /** exempts this device from locks that others cause */
  readonly deviceToken?: string;
  /** slug of the organization, after a company sign-in */
  readonly organization?: string;
}

export interface Tokens {
  readonly accessToken: string;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
  readonly refreshToken: string;
}

interface Config {
  readonly profiles: Readonly<Record<string, Profile>>;
}

const OTHERS = 0o077;

/** `$XDG_CONFIG_HOME/drawbridge/config.json`: holds secrets, so it is refused when others may read it. */
export class ConfigFile {
  readonly path: string;

  constructor(environment: NodeJS.ProcessEnv) {
    const base = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
    this.path = join(base, 'drawbridge', 'config.json');
  }

  /** @returns null: there is no such profile. @throws CommandFailure when others may read the file, or it is damaged */
  profile(name: string): Profile | null {
    const { profiles } = this.read();
    return Object.hasOwn(profiles, name) ? profiles[name]! : null;
  }

  /**
   * Changes a profile while no other process does.
   * @param change gets the profile as it is now; null: there is none, and none is made
   */
  async update(
    name: string,
    change: (current: Profile | null) => Profile | null | Promise<Profile | null>,
  ): Promise<Profile | null> {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    return runLocked(`${this.path}.lock`, async () => {
      const current = this.profile(name);
      const changed = await change(current);
      if (changed !== null && changed !== current) {
        this.write({ profiles: { ...this.read().profiles, [name]: changed } });
      }
      return changed;
    });
  }

  private read(): Config {
    try {
      const { mode } = statSync(this.path);
      if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
        const octal = (mode & 0o777).toString(8);
        throw usageFailure(
          `${this.path} holds secrets, and others may read or change it (mode ${octal})`,
          `chmod 600 ${this.path}`,
        );
      }
      return configIn(readFileSync(this.path, 'utf8'), this.path);
    } catch (error) {
      if (isMissing(error)) return { profiles: {} };
      throw error;
    }
  }

  /** Renamed into place: a reader sees the old file or the new one. */
  private write(config: Config): void {
    const written = `${this.path}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
    chmodSync(written, 0o600);
    renameSync(written, this.path);
  }
}

function configIn(text: string, path: string): Config {
  const damaged = usageFailure(
    `${path} is damaged`,
    `remove it and sign in again: rm ${path} && drawbridge login`,
  );
  const config = parsed(text);
  if (typeof config !== 'object' || config === null || !('profiles' in config)) throw damaged;
  const { profiles } = config;
  if (typeof profiles !== 'object' || profiles === null) throw damaged;
  for (const profile of Object.values(profiles) as unknown[]) {
    if (typeof profile !== 'object' || profile === null || !('url' in profile)) throw damaged;
  }
  return config as Config;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
