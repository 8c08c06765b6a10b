import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IsIn, IsInt, IsIP, IsOptional, IsString, Max, Min } from 'class-validator';
import { LISTEN_ADDRESS_MESSAGE, loadSettings, toInteger } from '#config';

const PORT_MESSAGE = 'PORT must be a port from 0 to 65535 (0: any free one)';
const METRICS_PORT_MESSAGE =
  'METRICS_PORT must be a port from 0 to 65534: the API takes it, the worker the next one (0: any free ones)';
const SIMULATOR_PORT_MESSAGE = 'SIMULATOR_PORT must be a port from 0 to 65535 (0: any free one)';

/** The environment of `npm start`. Property names are variable names. */
export class LauncherSettings {
  @toInteger()
  @IsInt({ message: PORT_MESSAGE })
  @Min(0, { message: PORT_MESSAGE })
  @Max(65_535, { message: PORT_MESSAGE })
  PORT = 3000;

  /** the API's port for metrics and probes; the worker has the next one; unset: none is opened */
  @IsOptional()
  @toInteger()
  @IsInt({ message: METRICS_PORT_MESSAGE })
  @Min(0, { message: METRICS_PORT_MESSAGE })
  @Max(65_534, { message: METRICS_PORT_MESSAGE })
  METRICS_PORT?: number;

  /** the address the API listens on; unset: loopback */
  @IsOptional()
  @IsIP(undefined, { message: `HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  HOST?: string;

  @IsIn(['simulated', 'real'], { message: 'CLOUD must be simulated or real' })
  CLOUD: 'simulated' | 'real' = 'simulated';

  @toInteger()
  @IsInt({ message: SIMULATOR_PORT_MESSAGE })
  @Min(0, { message: SIMULATOR_PORT_MESSAGE })
  @Max(65_535, { message: SIMULATOR_PORT_MESSAGE })
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
