import { IsOptional, Matches, ValidateBy } from 'class-validator';
import { DatabaseUrlSettings, postgresUrlProblem, without, wholeNumber } from '#config';

const NAMED_ROLE = /^postgres(ql)?:\/\/[a-z_][a-z0-9_]{0,62}:[^@/\s]+@/;

/** Property decorator: the URL names another role than DATABASE_URL. */
const IsAnotherRole = (): PropertyDecorator =>
  ValidateBy({
    name: 'isAnotherRole',
    validator: {
      validate: (value, given) => {
        const owner = (given?.object as MigrateSettings | undefined)?.DATABASE_URL ?? '';
        if (typeof value !== 'string' || !URL.canParse(value) || !URL.canParse(owner)) return false;
        return new URL(value).username !== new URL(owner).username;
      },
      defaultMessage: () =>
        'DATABASE_SERVICE_URL must name another role than DATABASE_URL, whose role owns the tables',
    },
  });

/** The environment of `drawbridge-admin migrate`. */
export class MigrateSettings extends DatabaseUrlSettings {
  /** DATABASE_URL of API and workers: its role is created and granted its rights; unset: they connect as the owner */
  @IsOptional()
  @IsAnotherRole()
  @without(postgresUrlProblem)
  @Matches(NAMED_ROLE, {
    message:
      'DATABASE_SERVICE_URL must be the address that API and workers use, like postgres://drawbridge_service:password@host:5432/name',
  })
  DATABASE_SERVICE_URL?: string;

  /** number of recent ledger months that the service role cannot drop */
  @wholeNumber(1, 120)
  LEDGER_RETENTION_MONTHS = 24;
}
