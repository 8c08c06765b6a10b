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
import { LISTEN_ADDRESS_MESSAGE, ServiceSettings, toBoolean, toInteger, toList } from '#config';
import { PLAN_INTERVALS, type PlanInterval } from '#rules';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys, IsStrongSecret } from '#secrets';
import { AreIssuers, AreOrigins, AreProxyRanges } from './settings-checks';

/** Property decorator: validated, and required, only with Stripe. */
const whenStripe = (): PropertyDecorator => ValidateIf(({ PAYMENT }: ApiSettings) => PAYMENT === 'stripe');

/** Property decorator: refuses sandbox payments while a Stripe key is configured. */
const IsStripeWhenKeyIsSet = (): PropertyDecorator =>
  ValidateBy({
    name: 'isStripeWhenKeyIsSet',
    validator: {
      validate: (payment: unknown, given) =>
        payment === 'stripe' || (given?.object as ApiSettings | undefined)?.STRIPE_SECRET_KEY === undefined,
      defaultMessage: () => 'PAYMENT must be stripe while STRIPE_SECRET_KEY is set',
    },
  });

/** Property decorator: a lower cost would make stolen hashes easy to crack. The embedded service and tests may use less. */
const IsSufficientHashCost = (): PropertyDecorator =>
  ValidateBy({
    name: 'isSufficientHashCost',
    validator: {
      validate: (cost: unknown, given) =>
        Number(cost) >= ((given?.object as ApiSettings | undefined)?.EMBEDDED ? 4 : 10),
      defaultMessage: () => 'PASSWORD_HASH_COST must be 10 to 15',
    },
  });

/** The environment of the API. Property names are variable names. */
export class ApiSettings extends ServiceSettings {
  @toInteger()
  @IsInt({ message: 'PORT must be a whole number' })
  @Min(0, { message: 'PORT must be 0 to 65535' })
  @Max(65_535, { message: 'PORT must be 0 to 65535' })
  PORT = 3000;

  /** the address the API listens on; unset: loopback in the embedded service, every address elsewhere */
  @IsOptional()
  @IsIP(undefined, { message: `HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  HOST?: string;

  /** seconds to keep serving after SIGTERM, until load balancers stop sending requests; unset: 2, embedded: 0 */
  @IsOptional()
  @toInteger()
  @IsInt({ message: 'DRAIN_SECONDS must be a whole number of seconds' })
  @Min(0, { message: 'DRAIN_SECONDS must be 0 to 5' })
  @Max(5, { message: 'DRAIN_SECONDS must be 0 to 5' })
  DRAIN_SECONDS?: number;

  /** the same service where it is reached over IPv4 only: clients read their IPv4 address there */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/]+(\/[^\s]*)?$/, { message: 'PUBLIC_URL_IPV4 must be an http or https address' })
  PUBLIC_URL_IPV4?: string;

  /** the same for IPv6 */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/]+(\/[^\s]*)?$/, { message: 'PUBLIC_URL_IPV6 must be an http or https address' })
  PUBLIC_URL_IPV6?: string;

  @IsStrongSecret()
  JWT_SECRET!: string;

  /** previous secrets: tokens signed with them stay valid until they expire */
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

  /** maximum lifetime of a sign-in in days, regardless of token refreshes */
  @toInteger()
  @IsInt({ message: 'SIGN_IN_MAX_DAYS must be a whole number of days' })
  @Min(1, { message: 'SIGN_IN_MAX_DAYS must be 1 to 3650' })
  @Max(3650, { message: 'SIGN_IN_MAX_DAYS must be 1 to 3650' })
  SIGN_IN_MAX_DAYS = 30;

  /** log2 of bcrypt's rounds; a sign-in rehashes passwords that use another cost */
  @toInteger()
  @IsInt({ message: 'PASSWORD_HASH_COST must be a whole number' })
  @IsSufficientHashCost()
  @Max(15, { message: 'PASSWORD_HASH_COST must be 10 to 15' })
  PASSWORD_HASH_COST = 12;

  /** requests per client address and minute */
  @toInteger()
  @IsInt({ message: 'RATE_LIMIT_PER_MINUTE must be a whole number' })
  @Min(1, { message: 'RATE_LIMIT_PER_MINUTE must be at least 1' })
  RATE_LIMIT_PER_MINUTE = 60;

  /** peers whose X-Forwarded-For and X-Real-IP are trusted; unset: loopback */
  @IsOptional()
  @toList()
  @AreProxyRanges()
  TRUSTED_PROXIES?: readonly string[];

  /** private networks that URLs of tenants may point at, for example of an APISIX gateway next to this service */
  @toList()
  @AreTenantNetworks()
  TENANT_URL_NETWORKS: readonly string[] = [];

  /** web origins that may call the API; none by default */
  @toList()
  @AreOrigins({
    message: 'CORS_ORIGINS must be a comma-separated list of origins like https://app.example.com',
  })
  CORS_ORIGINS: readonly string[] = [];

  /** issuers whose ID tokens organizations may trust, exactly as in the `iss` claim; `GITLAB=` before one binds it to a preset */
  @toList()
  @ArrayMaxSize(50, { message: 'OIDC_ISSUERS must hold at most 50 issuers' })
  @AreIssuers({
    message:
      'OIDC_ISSUERS must be a comma-separated list of https addresses like https://gitlab.example.com or GITLAB=https://gitlab.example.com; http only on loopback',
  })
  OIDC_ISSUERS: readonly string[] = ['https://token.actions.githubusercontent.com', 'https://gitlab.com'];

  /** default duration of a session */
  @toInteger()
  @IsInt({ message: 'SESSION_DEFAULT_HOURS must be a whole number' })
  @Min(1, { message: 'SESSION_DEFAULT_HOURS must be 1 to 24' })
  @Max(24, { message: 'SESSION_DEFAULT_HOURS must be 1 to 24' })
  SESSION_DEFAULT_HOURS = 1;

  /** maximum live sessions per user; 0: no limit */
  @toInteger()
  @IsInt({ message: 'MAX_LIVE_SESSIONS_PER_USER must be a whole number' })
  @Min(0, { message: 'MAX_LIVE_SESSIONS_PER_USER must be 0 (no limit) to 1000000' })
  @Max(1_000_000, { message: 'MAX_LIVE_SESSIONS_PER_USER must be 0 (no limit) to 1000000' })
  MAX_LIVE_SESSIONS_PER_USER = 50;

  /** maximum live sessions per service user; 0: no limit */
  @toInteger()
  @IsInt({ message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be a whole number' })
  @Min(0, { message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be 0 (no limit) to 1000000' })
  @Max(1_000_000, { message: 'MAX_LIVE_SESSIONS_PER_SERVICE_USER must be 0 (no limit) to 1000000' })
  MAX_LIVE_SESSIONS_PER_SERVICE_USER = 500;

  /** false: only publicly routed addresses may be allowed */
  @toBoolean()
  @IsBoolean({ message: 'ALLOW_PRIVATE_ADDRESSES must be true or false' })
  ALLOW_PRIVATE_ADDRESSES = true;

  /** true: a detected address of this machine or link may be allowed, which simulated clouds alone can see */
  @toBoolean()
  @IsBoolean({ message: 'ALLOW_LOCAL_ADDRESSES must be true or false' })
  ALLOW_LOCAL_ADDRESSES = false;

  /** the shortest prefix of a static IP rule */
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

  /** the maximum total width of an organization's static ranges on one resource, as the prefix of one range */
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

  /** started by the launcher for a single user, with its own database */
  @toBoolean()
  @IsBoolean({ message: 'EMBEDDED must be true or false' })
  EMBEDDED = false;

  /** who may register an organization: anybody, whoever comes first, nobody */
  @IsIn(['open', 'first', 'closed'], {
    message: 'REGISTRATION must be open, first (closed after the first organization) or closed',
  })
  REGISTRATION: 'open' | 'first' | 'closed' = 'open';

  /**
   * the mail server; unset: the embedded service writes mail to its log; any other sends none, and refuses to start where
   * anybody may register, because strangers have no administrator to give them a link
   */
  @ValidateIf(
    ({ EMBEDDED, REGISTRATION, SMTP_URL }: ApiSettings) =>
      SMTP_URL !== undefined || (!EMBEDDED && REGISTRATION === 'open'),
  )
  @Matches(/^smtps?:\/\/\S+$/, {
    message:
      'SMTP_URL must be the mail server, like smtp://user:password@host:587, with MAIL_FROM; it may be unset with ' +
      'REGISTRATION=first or closed only',
  })
  SMTP_URL?: string;

  /** false: mail is sent unencrypted when the server offers no STARTTLS */
  @toBoolean()
  @IsBoolean({ message: 'SMTP_REQUIRE_TLS must be true or false' })
  SMTP_REQUIRE_TLS = true;

  @ValidateIf(({ SMTP_URL }: ApiSettings) => SMTP_URL !== undefined)
  @IsNotEmpty({
    message: 'MAIL_FROM must be the address mail comes from, one the mail server of SMTP_URL lets you use',
  })
  MAIL_FROM?: string;

  /** none: every organization has the paid plan; sandbox: everybody can press Pay; unset: sandbox, only when embedded */
  @ValidateIf(
    ({ EMBEDDED, PAYMENT, STRIPE_SECRET_KEY }: ApiSettings) =>
      !EMBEDDED || PAYMENT !== undefined || STRIPE_SECRET_KEY !== undefined,
  )
  @IsStripeWhenKeyIsSet()
  @IsIn(['none', 'sandbox', 'stripe'], {
    message:
      'PAYMENT must be none (every organization has the Paid plan), stripe, or sandbox: a page where everybody can ' +
      'press Pay without paying',
  })
  PAYMENT?: 'none' | 'sandbox' | 'stripe';

  /** per interval; Stripe charges the price configured there */
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
}
