import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IsIn, IsIP, IsOptional, IsString } from 'class-validator';
import { LISTEN_ADDRESS_MESSAGE, loadSettings, wholeNumber } from '#config';

/** The environment of `npm start`. Property names are variable names. */
export class LauncherSettings {
  @wholeNumber(0, 65_535, '(0: any free one)')
  PORT = 3000;

  /** the API's port for metrics and probes; the worker has the next one; unset: none is opened */
  @IsOptional()
  @wholeNumber(0, 65_534, '(0: any free ones; the worker has the next one)')
  METRICS_PORT?: number;

  /** the address the API listens on; unset: loopback */
  @IsOptional()
  @IsIP(undefined, { message: `HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  HOST?: string;

  @IsIn(['simulated', 'real'], { message: 'CLOUD must be simulated or real' })
  CLOUD: 'simulated' | 'real' = 'simulated';

  @wholeNumber(0, 65_535, '(0: any free one)')
  SIMULATOR_PORT = 4666;

  /** folder of the database, keys and logs; made absolute by `readLauncherSettings` */
  @IsString()
  DATA_DIR = '.data';

  /** unset: an embedded PostgreSQL */
  @IsOptional()
  @IsString()
  DATABASE_URL?: string;

  /** with DATABASE_URL: the URL that API and worker connect with; unset: DATABASE_URL */
  @IsOptional()
  @IsString()
  DATABASE_SERVICE_URL?: string;

  /** unset: the address of this machine at PORT */
  @IsOptional()
  @IsString()
  PUBLIC_URL?: string;
}

/** The folder of package.json: compiled code is one level deeper below it than the sources. */
export function findRepository(from = __dirname): string {
  if (existsSync(join(from, 'package.json'))) return from;
  if (dirname(from) === from) throw new Error(`No package.json above ${__dirname}`);
  return findRepository(dirname(from));
}

/**
 * Reads the settings; a relative DATA_DIR is resolved from the repository.
 * @throws SettingsError naming every variable that is wrong
 */
export function readLauncherSettings(environment: NodeJS.ProcessEnv, repository: string): LauncherSettings {
  const settings = loadSettings(LauncherSettings, environment);
  settings.DATA_DIR = resolve(repository, settings.DATA_DIR);
  return settings;
}
