import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';

/** Exit code when a restart cannot help: the operator has to change a setting (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIGURATION = 78;

/** Invalid settings. Every line names a variable and what it must be, never its value. */
export class SettingsError extends Error {
  constructor(readonly problems: string[]) {
    super(`Settings are missing or wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

/**
 * Reads the variables that a settings class declares. Property names are variable names, initial values are defaults,
 * an empty variable counts as absent.
 * @param shape a class whose properties carry class-validator decorators
 * @param environment usually `process.env`
 * @returns a validated instance
 * @throws SettingsError naming every variable that is missing or wrong
 */
export function loadSettings<T extends object>(shape: new () => T, environment: NodeJS.ProcessEnv): T {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const settings = plainToInstance(shape, given, { exposeDefaultValues: true });
  const errors = validateSync(settings, { forbidUnknownValues: false, stopAtFirstError: true });
  if (errors.length > 0) {
    throw new SettingsError(errors.flatMap((error) => Object.values(error.constraints ?? {})));
  }
  return settings;
}

/** The variables that a settings class declares, sorted. @param shape a class as `loadSettings` takes it */
export function settingNames(shape: new () => object): string[] {
  const declared = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
  return [...new Set(declared.map(({ propertyName }) => propertyName))].sort();
}
