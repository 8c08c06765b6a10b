import type { components } from '#client/schema';

type ErrorBody = components['schemas']['ErrorDto'];

/** A request that was refused, or that got no answer. */
export class Failure extends Error {
  /**
   * @param status of HTTP; 0: no answer came
   * @param code as the API names it, such as `VALIDATION_FAILED`
   * @param fields messages by field of the request
   * @param retryAfterMs how long the API asks to wait
   */
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly fields: Readonly<Record<string, string>> = {},
    readonly retryAfterMs: number | null = null,
  ) {
    super(message);
  }
}

/** No answer came: the network, or the server, is away. @param isChange something was to be changed */
export const unreachable = (isChange = false): Failure =>
  new Failure(
    !isChange
      ? 'No answer from the server. Check your connection.'
      : 'No answer from the server: it is not known whether this was done. Check your connection, look at what is shown then, and try again.',
    0,
    'UNREACHABLE',
  );

/** Whether the same request may succeed later: there was no answer, or a limit or a fault of the server. */
export const isPassing = ({ status }: Failure): boolean => status === 0 || status === 429 || status >= 500;

/** Answers with a code list the invalid fields in their message alone: "name must not be empty; config.port is required". */
const FIELD =
  /(?:^|; )([a-z]\w*(?:\.\w+)*) ((?:must|is|may|cannot) .+?)(?=; [a-z]\w*(?:\.\w+)* (?:must|is|may|cannot) |$)/g;

const fieldsIn = (body: Partial<ErrorBody> | null): Record<string, string> =>
  body?.error === 'VALIDATION_ERROR'
    ? Object.fromEntries([...(body.message ?? '').matchAll(FIELD)].map(([, field, text]) => [field!, text!]))
    : {};

/** Where people find what the API's messages name by its route. */
const SCREENS: Readonly<Record<string, string>> = {
  'DELETE /organization/lockdown': 'Organization',
  'DELETE /users/{id}/lockdown': 'People',
  'GET /organization': 'Organization',
  'PATCH /organization': 'Organization, Company sign-in',
  'PATCH /organization/billing': 'Organization, Billing',
  'POST /access-requests': 'Access',
  'POST /auth/change-password': 'Account',
  'POST /auth/forgot-password': '“Forgot your password?”',
  'POST /billing/cancel': 'Organization, Billing',
  'POST /billing/subscribe': 'Organization, Billing',
  'POST /identity-providers': 'Organization, Company sign-in',
  'POST /mfa/disable': 'Account',
  'POST /mfa/setup': 'Account',
  'POST /sessions': 'Access',
  'POST /users/{id}/resend-invitation': '“Resend the invitation”',
};

/** With what the command line has for the same. */
const ROUTE = /(with )?((?:GET|POST|PATCH|DELETE) \/[\w/{}-]+)(?: \(drawbridge [^)]+\))?/g;

/** A text of the API for who has screens, and no routes. */
const forPeople = (text: string): string =>
  text.replaceAll(ROUTE, (named: string, by: string | undefined, route: string) => {
    const screen = SCREENS[route];
    return screen === undefined ? named : `${by === undefined ? '' : 'under '}${screen}`;
  });

/** What an answer that is not a success says. */
export async function failureOf(response: Response): Promise<Failure> {
  const body = await response
    .clone()
    .text()
    .then((text) => JSON.parse(forPeople(text)) as Partial<ErrorBody> | null)
    // a proxy in front of the API answers without JSON
    .catch(() => null);
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new Failure(
    body?.message ?? `The server answered ${response.status} ${response.statusText}`,
    response.status,
    body?.error ?? 'UNKNOWN',
    body?.validationErrors ?? fieldsIn(body),
    Number.isFinite(seconds) ? seconds * 1000 : null,
  );
}

/** Anything that was thrown, as something to show. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(error instanceof Error ? error.message : String(error), 0, 'UNKNOWN');
}
