import { ArrayMaxSize, IsIn, IsIP, IsOptional, Matches, MinLength, ValidateIf } from 'class-validator';
import {
  LISTEN_ADDRESS_MESSAGE,
  ServiceSettings,
  publicUrlProblem,
  smtpUrlProblem,
  toInteger,
  toList,
  trueOrFalse,
  wholeNumber,
  without,
} from '#config';
import { PLAN_INTERVALS, type PlanInterval } from '#rules';
import { AreTenantNetworks } from '#drivers';
import { AreMasterKeys, IsStrongSecret } from '#secrets';
import { checkedBy } from './http/checked-by';
import { AreIssuers, AreOrigins, AreProxyRanges } from './settings-checks';

/** Property decorator: validated, and required, only with Stripe. */
const whenStripe = (): PropertyDecorator => ValidateIf(({ PAYMENT }: ApiSettings) => PAYMENT === 'stripe');

/** Property decorator: refuses sandbox payments while a Stripe key is configured. */
const IsStripeWhenKeyIsSet = (): PropertyDecorator =>
  checkedBy('isStripeWhenKeyIsSet', (payment, { STRIPE_SECRET_KEY }: Partial<ApiSettings>) =>
    payment === 'stripe' || STRIPE_SECRET_KEY === undefined
      ? null
      : 'PAYMENT must be stripe while STRIPE_SECRET_KEY is set',
  );

/** Property decorator: a lower cost would make stolen hashes easy to crack. The embedded service and tests may use less. */
const IsSufficientHashCost = (): PropertyDecorator =>
  checkedBy('isSufficientHashCost', (cost, { EMBEDDED }: Partial<ApiSettings>) =>
    Number.isInteger(cost) && Number(cost) >= (EMBEDDED ? 4 : 10) && Number(cost) <= 15
      ? null
      : 'PASSWORD_HASH_COST must be a whole number from 10 to 15',
  );

/** The environment of the API. Property names are variable names. */
export class ApiSettings extends ServiceSettings {
  @wholeNumber(0, 65_535)
  PORT = 3000;

  /** the address the API listens on; unset: loopback in the embedded service, every address elsewhere */
  @IsOptional()
  @IsIP(undefined, { message: `HOST must be ${LISTEN_ADDRESS_MESSAGE}` })
  HOST?: string;

  /** seconds to keep serving after SIGTERM, until load balancers stop sending requests; unset: 2, embedded: 0 */
  @IsOptional()
  @wholeNumber(0, 5, 'of seconds')
  DRAIN_SECONDS?: number;

  /** with the console only at the root of a host: its pages name each other from there */
  @IsOptional()
  @without((text, settings) =>
    publicUrlProblem(text) !== null ||
    (settings as ApiSettings).CONSOLE === 'off' ||
    /^[^/]*\/\/[^/]*\/*$/.test(text)
      ? publicUrlProblem(text)
      : 'must have no path, as the console is at the root of its host: give it a host of its own, or set CONSOLE=off',
  )
  override PUBLIC_URL?: string;

  /** the same service where it is reached over IPv4 only: clients read their IPv4 address there */
  @IsOptional()
  @without(publicUrlProblem)
  PUBLIC_URL_IPV4?: string;

  /** the same for IPv6 */
  @IsOptional()
  @without(publicUrlProblem)
  PUBLIC_URL_IPV6?: string;

  /** off: no web console is served */
  @IsIn(['on', 'off'], { message: 'CONSOLE must be on or off' })
  CONSOLE: 'on' | 'off' = 'on';

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
  @wholeNumber(1, undefined, 'of seconds')
  ACCESS_TOKEN_TTL = 900;

  /** seconds */
  @wholeNumber(1, undefined, 'of seconds')
  REFRESH_TOKEN_TTL = 604_800;

  /** maximum lifetime of a sign-in in days, regardless of token refreshes */
  @wholeNumber(1, 3650, 'of days')
  SIGN_IN_MAX_DAYS = 30;

  /** log2 of bcrypt's rounds; a sign-in rehashes passwords that use another cost */
  @toInteger()
  @IsSufficientHashCost()
  PASSWORD_HASH_COST = 12;

  /** requests per client address and minute */
  @wholeNumber(1)
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
  @wholeNumber(1, 24)
  SESSION_DEFAULT_HOURS = 1;

  /** maximum live sessions per user; 0: no limit */
  @wholeNumber(0, 1_000_000, 'of sessions (0: no limit)')
  MAX_LIVE_SESSIONS_PER_USER = 50;

  /** maximum live sessions per service user; 0: no limit */
  @wholeNumber(0, 1_000_000, 'of sessions (0: no limit)')
  MAX_LIVE_SESSIONS_PER_SERVICE_USER = 500;

  /** false: only publicly routed addresses may be allowed */
  @trueOrFalse()
  ALLOW_PRIVATE_ADDRESSES = true;

  /** true: a detected address of this machine or link may be allowed, which simulated clouds alone can see */
  @trueOrFalse()
  ALLOW_LOCAL_ADDRESSES = false;

  /** the shortest prefix of a static IP rule */
  @wholeNumber(0, 32)
  STATIC_IP_MIN_PREFIX_IPV4 = 8;

  @wholeNumber(0, 128)
  STATIC_IP_MIN_PREFIX_IPV6 = 16;

  /** the maximum total width of an organization's static ranges on one resource, as the prefix of one range */
  @wholeNumber(0, 32)
  STATIC_IP_TOTAL_PREFIX_IPV4 = 8;

  @wholeNumber(0, 128)
  STATIC_IP_TOTAL_PREFIX_IPV6 = 16;

  /** started by the launcher for a single user, with its own database */
  @trueOrFalse()
  EMBEDDED = false;

  /** who may register an organization: anybody (open), only the first one (first), no one (closed) */
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
  @without((text) =>
    text === ''
      ? 'must be the mail server, like smtp://user:password@host:587, with MAIL_FROM; it may be unset with REGISTRATION=first or closed only'
      : smtpUrlProblem(text),
  )
  override SMTP_URL?: string;

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
  @wholeNumber(0, 100_000_000, 'of cents')
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
