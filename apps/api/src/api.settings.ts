import {
  ArrayMaxSize,
  IsBoolean,
  IsIn,
  IsInt,
  IsIP,
  IsNotEmpty,
  IsOptional,
  Matches,
  Max,
  Min,
  MinLength,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import {
  LISTEN_ADDRESS_MESSAGE,
  POSTGRES_URL,
  POSTGRES_URL_MESSAGE,
  REDIS_URL,
  REDIS_URL_MESSAGE,
  toBoolean,
  toInteger,
  toList,
} from '#config';
import { PLAN_INTERVALS, type PlanInterval } from '#rules';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys, IsStrongSecret } from '#secrets';
import { AreOrigins, AreProxyRanges } from './settings-checks';

/** Property decorator: only read, and then needed, when Stripe takes the money. */
const whenStripe = (): PropertyDecorator => ValidateIf(({ PAYMENT }: ApiSettings) => PAYMENT === 'stripe');

/** Property decorator: who has given Stripe's key does not want a page where everybody may press Pay. */
const StripeWhereItsKeyIs = (): PropertyDecorator =>
  ValidateBy({
    name: 'stripeWhereItsKeyIs',
    validator: {
      validate: (payment: unknown, given) =>
        payment === 'stripe' || (given?.object as ApiSettings | undefined)?.STRIPE_SECRET_KEY === undefined,
      defaultMessage: () => 'PAYMENT must be stripe while STRIPE_SECRET_KEY is set',
    },
  });

/** Below 10 a stolen hash is guessed too fast. The embedded service, which tests start too, may have it cheaper. */
const IsHardToGuess = (): PropertyDecorator =>
  ValidateBy({
    name: 'isHardToGuess',
    validator: {
      validate: (cost: unknown, given) =>
        Number(cost) >= ((given?.object as ApiSettings | undefined)?.EMBEDDED ? 4 : 10),
      defaultMessage: () => 'PASSWORD_HASH_COST must be 10 to 15',
    },
  });

/** The environment of the API. Property names are variable names. */
export class ApiSettings {
  @toInteger()
  @IsInt({ message: 'PORT must be a whole number' })
  @Min(0, { message: 'PORT must be 0 to 65535' })
  @Max(65_535, { message: 'PORT must be 0 to 65535' })
  PORT = 3000;

  /** the address the API listens on; unset: loopback in the embedded service, every address elsewhere */
  @IsOptional()
  @IsIP(undefined, { message: `HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  HOST?: string;

  /** where operators and probes reach this process, apart from clients; unset: nowhere */
  @IsOptional()
  @toInteger()
  @IsInt({ message: 'METRICS_PORT must be a whole number' })
  @Min(0, { message: 'METRICS_PORT must be 0 to 65535' })
  @Max(65_535, { message: 'METRICS_PORT must be 0 to 65535' })
  METRICS_PORT?: number;

  /** the address METRICS_PORT is opened on */
  @IsIP(undefined, { message: `METRICS_HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  METRICS_HOST = '127.0.0.1';

  /** after SIGTERM, seconds for load balancers to look elsewhere; unset: 2, and 0 where nobody balances */
  @IsOptional()
  @toInteger()
  @IsInt({ message: 'DRAIN_SECONDS must be a whole number of seconds' })
  @Min(0, { message: 'DRAIN_SECONDS must be 0 to 5' })
  @Max(5, { message: 'DRAIN_SECONDS must be 0 to 5' })
  DRAIN_SECONDS?: number;

  /** where clients reach the service, for links in answers; unset: this machine at PORT */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/]+(\/[^\s]*)?$/, { message: 'PUBLIC_URL must be an http or https address' })
  PUBLIC_URL?: string;

  @Matches(POSTGRES_URL, { message: `DATABASE_URL must be ${POSTGRES_URL_MESSAGE}` })
  DATABASE_URL!: string;

  /** unset: the queue is in PostgreSQL */
  @IsOptional()
  @Matches(REDIS_URL, { message: `REDIS_URL must be ${REDIS_URL_MESSAGE}` })
  REDIS_URL?: string;

  @IsStrongSecret()
  JWT_SECRET!: string;

  /** secrets before that one: what they signed counts until it runs out */
  @toList()
  @ArrayMaxSize(5, { message: 'JWT_PREVIOUS_SECRETS must hold at most 5 secrets' })
  @MinLength(32, {
    each: true,
    message: 'JWT_PREVIOUS_SECRETS must be a comma-separated list of texts of at least 32 characters',
  })
  JWT_PREVIOUS_SECRETS: readonly string[] = [];

  @AreMasterKeys()
  MASTER_KEYS!: string;

  /** seconds */
  @toInteger()
  @IsInt({ message: 'ACCESS_TOKEN_TTL must be a whole number of seconds' })
  @Min(1, { message: 'ACCESS_TOKEN_TTL must be at least 1' })
  ACCESS_TOKEN_TTL = 900;

  /** seconds */
  @toInteger()
  @IsInt({ message: 'REFRESH_TOKEN_TTL must be a whole number of seconds' })
  @Min(1, { message: 'REFRESH_TOKEN_TTL must be at least 1' })
  REFRESH_TOKEN_TTL = 604_800;

  /** days after which somebody signs in again, however often the tokens were refreshed */
  @toInteger()
  @IsInt({ message: 'SIGN_IN_MAX_DAYS must be a whole number of days' })
  @Min(1, { message: 'SIGN_IN_MAX_DAYS must be 1 to 3650' })
  @Max(3650, { message: 'SIGN_IN_MAX_DAYS must be 1 to 3650' })
  SIGN_IN_MAX_DAYS = 30;

  /** the logarithm of bcrypt's rounds; a sign-in hashes an older password anew */
  @toInteger()
  @IsInt({ message: 'PASSWORD_HASH_COST must be a whole number' })
  @IsHardToGuess()
  @Max(15, { message: 'PASSWORD_HASH_COST must be 10 to 15' })
  PASSWORD_HASH_COST = 12;

  /** requests of one client address a minute */
  @toInteger()
  @IsInt({ message: 'RATE_LIMIT_PER_MINUTE must be a whole number' })
  @Min(1, { message: 'RATE_LIMIT_PER_MINUTE must be at least 1' })
  RATE_LIMIT_PER_MINUTE = 60;

  /** peers whose X-Forwarded-For and X-Real-IP are trusted; unset: loopback */
  @IsOptional()
  @toList()
  @AreProxyRanges()
  TRUSTED_PROXIES?: readonly string[];

  /** private networks that a URL of a tenant may lead to: an APISIX gateway beside this service */
  @toList()
  @AreTenantNetworks()
  TENANT_URL_NETWORKS: readonly string[] = [];

  /** browsers' pages that may call; none by default */
  @toList()
  @AreOrigins({
    message: 'CORS_ORIGINS must be a comma-separated list of origins like https://app.example.com',
  })
  CORS_ORIGINS: readonly string[] = [];

  /** how long a session lasts when nobody says */
  @toInteger()
  @IsInt({ message: 'SESSION_DEFAULT_HOURS must be a whole number' })
  @Min(1, { message: 'SESSION_DEFAULT_HOURS must be 1 to 24' })
  @Max(24, { message: 'SESSION_DEFAULT_HOURS must be 1 to 24' })
  SESSION_DEFAULT_HOURS = 1;

  /** most sessions of one person that are live at the same time; 0: no limit */
  @toInteger()
  @IsInt({ message: 'MAX_LIVE_SESSIONS_PER_USER must be a whole number' })
  @Min(0, { message: 'MAX_LIVE_SESSIONS_PER_USER must be 0 (no limit) to 1000000' })
  @Max(1_000_000, { message: 'MAX_LIVE_SESSIONS_PER_USER must be 0 (no limit) to 1000000' })
  MAX_LIVE_SESSIONS_PER_USER = 50;

  /** the same for service users */
  @toInteger()
  @IsInt({ message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be a whole number' })
  @Min(0, { message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be 0 (no limit) to 1000000' })
  @Max(1_000_000, { message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be 0 (no limit) to 1000000' })
  MAX_LIVE_SESSIONS_PER_SERVICE_USER = 500;

  /** false: only addresses that are routed on the internet may be let in */
  @toBoolean()
  @IsBoolean({ message: 'ALLOW_PRIVATE_ADDRESSES must be true or false' })
  ALLOW_PRIVATE_ADDRESSES = true;

  /** the widest range a static IP rule may open */
  @toInteger()
  @IsInt({ message: 'STATIC_IP_MIN_PREFIX_IPV4 must be a whole number' })
  @Min(0, { message: 'STATIC_IP_MIN_PREFIX_IPV4 must be 0 to 32' })
  @Max(32, { message: 'STATIC_IP_MIN_PREFIX_IPV4 must be 0 to 32' })
  STATIC_IP_MIN_PREFIX_IPV4 = 8;

  @toInteger()
  @IsInt({ message: 'STATIC_IP_MIN_PREFIX_IPV6 must be a whole number' })
  @Min(0, { message: 'STATIC_IP_MIN_PREFIX_IPV6 must be 0 to 128' })
  @Max(128, { message: 'STATIC_IP_MIN_PREFIX_IPV6 must be 0 to 128' })
  STATIC_IP_MIN_PREFIX_IPV6 = 16;

  /** how much all static ranges of an organization may open on one resource together */
  @toInteger()
  @IsInt({ message: 'STATIC_IP_TOTAL_PREFIX_IPV4 must be a whole number' })
  @Min(0, { message: 'STATIC_IP_TOTAL_PREFIX_IPV4 must be 0 to 32' })
  @Max(32, { message: 'STATIC_IP_TOTAL_PREFIX_IPV4 must be 0 to 32' })
  STATIC_IP_TOTAL_PREFIX_IPV4 = 8;

  @toInteger()
  @IsInt({ message: 'STATIC_IP_TOTAL_PREFIX_IPV6 must be a whole number' })
  @Min(0, { message: 'STATIC_IP_TOTAL_PREFIX_IPV6 must be 0 to 128' })
  @Max(128, { message: 'STATIC_IP_TOTAL_PREFIX_IPV6 must be 0 to 128' })
  STATIC_IP_TOTAL_PREFIX_IPV6 = 16;

  /** started by the launcher for one person, with its own database */
  @toBoolean()
  @IsBoolean({ message: 'EMBEDDED must be true or false' })
  EMBEDDED = false;

  /** where mail goes out; unset: the embedded service writes mail into its log, any other refuses to start */
  @ValidateIf(({ EMBEDDED, SMTP_URL }: ApiSettings) => !EMBEDDED || SMTP_URL !== undefined)
  @Matches(/^smtps?:\/\/\S+$/, {
    message:
      'SMTP_URL must be the mail server, like smtp://user:password@host:587: invitations go out through it',
  })
  SMTP_URL?: string;

  /** false: mail goes out unencrypted when the server offers no STARTTLS */
  @toBoolean()
  @IsBoolean({ message: 'SMTP_REQUIRE_TLS must be true or false' })
  SMTP_REQUIRE_TLS = true;

  @ValidateIf(({ SMTP_URL }: ApiSettings) => SMTP_URL !== undefined)
  @IsNotEmpty({
    message: 'MAIL_FROM must be the address mail comes from, one the mail server of SMTP_URL lets you use',
  })
  MAIL_FROM?: string;

  /** who takes the money: a page of this service where everybody can press Pay, or Stripe; unset: embedded, that page */
  @ValidateIf(
    ({ EMBEDDED, PAYMENT, STRIPE_SECRET_KEY }: ApiSettings) =>
      !EMBEDDED || PAYMENT !== undefined || STRIPE_SECRET_KEY !== undefined,
  )
  @StripeWhereItsKeyIs()
  @IsIn(['sandbox', 'stripe'], {
    message: 'PAYMENT must be stripe, or sandbox: a page where everybody can press Pay without paying',
  })
  PAYMENT?: 'sandbox' | 'stripe';

  /** of one interval; with Stripe, what its price says is what is charged */
  @toInteger()
  @IsInt({ message: 'PAID_PLAN_PRICE_CENTS must be a whole number of cents' })
  @Min(0, { message: 'PAID_PLAN_PRICE_CENTS must be 0 or more' })
  @Max(100_000_000, { message: 'PAID_PLAN_PRICE_CENTS must be at most 100000000' })
  PAID_PLAN_PRICE_CENTS = 4900;

  @Matches(/^[A-Z]{3}$/, { message: 'PAID_PLAN_CURRENCY must be a code of three capital letters, like EUR' })
  PAID_PLAN_CURRENCY = 'EUR';

  @IsIn(PLAN_INTERVALS, { message: `PAID_PLAN_INTERVAL must be ${PLAN_INTERVALS.join(' or ')}` })
  PAID_PLAN_INTERVAL: PlanInterval = 'MONTH';

  @whenStripe()
  @Matches(/^(sk|rk)_\S+$/, { message: 'STRIPE_SECRET_KEY must be a secret key of Stripe, like sk_live_…' })
  STRIPE_SECRET_KEY?: string;

  @whenStripe()
  @Matches(/^whsec_\S+$/, {
    message: 'STRIPE_WEBHOOK_SECRET must be the signing secret of the webhook endpoint, like whsec_…',
  })
  STRIPE_WEBHOOK_SECRET?: string;

  @whenStripe()
  @Matches(/^price_\S+$/, { message: 'STRIPE_PRICE_ID must be the recurring price to sell, like price_…' })
  STRIPE_PRICE_ID?: string;

  /** unset: Stripe itself */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/]+$/, { message: 'STRIPE_API_URL must be like https://host:port' })
  STRIPE_API_URL?: string;

  @Matches(/^[a-z0-9-]{1,32}$/, { message: 'DEPLOYMENT_ID must be 1 to 32 characters of a-z, 0-9 and -' })
  DEPLOYMENT_ID = 'default';

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace'], {
    message: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace',
  })
  LOG_LEVEL = 'info';
}
