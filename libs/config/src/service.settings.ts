import { Transform } from 'class-transformer';
import { IsIn, IsIP, IsOptional, Matches, MaxLength, ValidateIf } from 'class-validator';
import { REDIS_URL, REDIS_URL_MESSAGE } from './redis-url';
import {
  certificatesProblem,
  ISSUER_URL,
  ISSUER_URL_MESSAGE,
  LISTEN_ADDRESS_MESSAGE,
  mailSenderProblem,
  MAX_ISSUER_URL_LENGTH,
  postgresUrlProblem,
  publicUrlProblem,
  smtpUrlProblem,
  without,
  withVerification,
} from './server-urls';
import { trueOrFalse, wholeNumber } from './values';

/** What rules can be marked with. */
export const DEPLOYMENT_ID = /^[a-z0-9-]{1,32}$/;
export const DEPLOYMENT_ID_MESSAGE = '1 to 32 characters of a-z, 0-9 and -';

const AWS_IDENTITIES = ['keys', 'token-file', 'container', 'instance'];

/** The environment of every process that uses the database. Property names are variable names. */
export class DatabaseUrlSettings {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? withVerification(value) : value))
  @without(postgresUrlProblem)
  DATABASE_URL!: string;

  /** of private authorities: Node.js itself reads it at start, for every connection with TLS */
  @IsOptional()
  @without(certificatesProblem)
  NODE_EXTRA_CA_CERTS?: string;
}

/** The variables that the API and the worker have in common. */
export class ServiceSettings extends DatabaseUrlSettings {
  /** unset: the queue is in PostgreSQL */
  @IsOptional()
  @without((text) =>
    REDIS_URL.test(text) && (text.startsWith('redis+') || URL.canParse(text))
      ? null
      : `must be ${REDIS_URL_MESSAGE}`,
  )
  REDIS_URL?: string;

  /** must be the id that the database keeps; unset: that one */
  @IsOptional()
  @Matches(DEPLOYMENT_ID, { message: `DEPLOYMENT_ID must be ${DEPLOYMENT_ID_MESSAGE}` })
  DEPLOYMENT_ID?: string;

  /** the public URL, for links and the issuer; unset: this machine at PORT, and no issuer */
  @IsOptional()
  @without(publicUrlProblem)
  PUBLIC_URL?: string;

  /** the mail server; unset: none */
  @IsOptional()
  @without(smtpUrlProblem)
  SMTP_URL?: string;

  /** false: mail is sent unencrypted when the server offers no STARTTLS */
  @trueOrFalse()
  SMTP_REQUIRE_TLS = true;

  @ValidateIf(({ SMTP_URL }: ServiceSettings) => SMTP_URL !== undefined)
  @without(mailSenderProblem)
  MAIL_FROM?: string;

  /**
   * The issuer's URL without an organization, for clouds that trust this deployment's tokens; unset: see `issuerUrlOf`.
   * Clouds compare it character by character.
   */
  @IsOptional()
  @Matches(ISSUER_URL, { message: `OIDC_ISSUER_URL must be ${ISSUER_URL_MESSAGE}` })
  @MaxLength(MAX_ISSUER_URL_LENGTH, {
    message: `OIDC_ISSUER_URL must be at most ${MAX_ISSUER_URL_LENGTH} characters`,
  })
  OIDC_ISSUER_URL?: string;

  /** the only source of the keys with which this deployment assumes tenants' roles */
  @IsIn(AWS_IDENTITIES, { message: `DRAWBRIDGE_AWS_IDENTITY must be one of ${AWS_IDENTITIES.join(', ')}` })
  DRAWBRIDGE_AWS_IDENTITY = 'keys';

  /** the HTTP proxy that calls to clouds and the payment provider go through; unset: none */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/]+\/?$/, {
    message: 'EGRESS_PROXY must be the http or https address of a proxy',
  })
  EGRESS_PROXY?: string;

  /** port for metrics and health probes, separate from the API's own port; unset: none is opened */
  @IsOptional()
  @wholeNumber(0, 65_535)
  METRICS_PORT?: number;

  /** the address METRICS_PORT is opened on */
  @IsIP(undefined, { message: `METRICS_HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  METRICS_HOST = '127.0.0.1';

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    message: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace',
  })
  LOG_LEVEL = 'info';
}
