import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, LoopbackServer } from '../network/loopback-server';
import {
  checkoutSession,
  inSeconds,
  readForm,
  subscriptionOf,
  type Form,
  type StripeObject,
} from './stripe-objects';

export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly form: Form;
  readonly idempotencyKey: string | null;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

/**
 * `lost`: the request is executed and not answered. `down`: Stripe fails with a server error. A function: it is answered
 * once that has returned.
 */
export type Fault = 'lost' | 'down' | (() => Promise<unknown>);

/** A header as Stripe signs it: `t=…,v1=…`, HMAC-SHA256 over the time and the body. @param at milliseconds */
export function stripeSignature(body: string, secret: string, at = Date.now()): string {
  const time = inSeconds(at);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

const refused = (status: number, type: string, message: string, code?: string): Reply => ({
  status,
  body: { error: { type, message, ...(code === undefined ? {} : { code }) } },
});
const missing = (what: string, id: string): Reply =>
  refused(404, 'invalid_request_error', `No such ${what}: '${id}'`, 'resource_missing');

/** The part of Stripe's API that billing uses, on the wire: form bodies, JSON responses, API keys checked. */
export class StripeServer extends LoopbackServer {
  readonly secretKey = `sk_test_${randomBytes(12).toString('hex')}`;
  readonly webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  readonly requests: StripeRequest[] = [];
  private readonly sessions = new Map<string, StripeObject>();
  private readonly subscriptions = new Map<string, StripeObject>();
  private readonly replies = new Map<string, Reply>();
  private readonly faults: Fault[] = [];

  static start(): Promise<StripeServer> {
    return new StripeServer().listen();
  }

  /** Faults of the next requests, one each. */
  fail(...faults: Fault[]): void {
    this.faults.push(...faults);
  }

  openSessions = (): StripeObject[] => [...this.sessions.values()].filter(({ status }) => status === 'open');
  /** The checkout of a payment page. */
  sessionOf = (redirectUrl: string): StripeObject => this.sessions.get(redirectUrl.split('/').at(-1)!)!;

  /** The customer pays on Stripe's page. @returns the new subscription */
  pay(redirectUrl: string): StripeObject {
    const session = this.sessionOf(redirectUrl);
    const subscription = subscriptionOf(session);
    this.subscriptions.set(subscription.id, subscription);
    this.change(this.sessions, session.id, {
      status: 'complete',
      payment_status: 'paid',
      subscription: subscription.id,
    });
    return subscription;
  }

  /** Changes a subscription at Stripe. */
  changeSubscription = (id: string, changes: object): StripeObject =>
    this.change(this.subscriptions, id, changes);
  subscription = (id: string): StripeObject => this.subscriptions.get(id)!;

  /** Renews it for thirty days. */
  renew(id: string): StripeObject {
    const { items } = this.subscription(id) as { items?: { data: { current_period_end: number }[] } };
    const [item] = items!.data;
    const renewed = {
      ...item,
      current_period_start: item!.current_period_end,
      current_period_end: item!.current_period_end + 30 * 86_400,
    };
    return this.changeSubscription(id, { status: 'active', items: { object: 'list', data: [renewed] } });
  }

  private change(where: Map<string, StripeObject>, id: string, changes: object): StripeObject {
    const changed = { ...where.get(id)!, ...changes };
    where.set(id, changed);
    return changed;
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const header = request.headers['idempotency-key'];
    const idempotencyKey = typeof header === 'string' ? header : null;
    const asked = { method: request.method!, path: request.url!, form: readForm(body), idempotencyKey };
    this.requests.push(asked);
    const fault = this.faults.shift();
    if (fault === 'down') return send(response, refused(500, 'api_error', 'Something went wrong on our end'));
    const reply = this.refusal(request, body) ?? this.once(asked);
    if (typeof fault === 'function') await fault();
    if (fault === 'lost') request.socket.destroy();
    else send(response, reply);
  }

  private refusal({ headers, method }: IncomingMessage, body: string): Reply | null {
    if (headers.authorization !== `Bearer ${this.secretKey}`) {
      return refused(401, 'invalid_request_error', 'Invalid API Key provided: sk_test_****');
    }
    if (!headers['stripe-version']) return refused(400, 'invalid_request_error', 'No version was sent');
    const formless = !(headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    return method === 'POST' && body !== '' && formless
      ? refused(400, 'invalid_request_error', 'Bodies are form-encoded')
      : null;
  }

  /** Idempotent: the same key gets the same response, and the request is executed once. */
  private once(asked: StripeRequest): Reply {
    const key = asked.method === 'POST' ? asked.idempotencyKey : null;
    const reply = (key !== null && this.replies.get(key)) || this.route(asked);
    if (key !== null) this.replies.set(key, reply);
    return reply;
  }

  private route({ method, path, form }: StripeRequest): Reply {
    const [, , collection, id = '', action = ''] = path.split('?')[0]!.split('/');
    if (method === 'POST' && path === '/v1/checkout/sessions') return this.openSession(form);
    if (method === 'POST' && collection === 'checkout' && id === 'sessions') {
      return this.expireSession(action);
    }
    const known = collection === 'subscriptions' && this.subscriptions.get(id);
    if (!known) return missing('subscription', id);
    if (method === 'GET') return { status: 200, body: known };
    if (known['status'] === 'canceled') return missing('subscription', id);
    const changes =
      method === 'DELETE'
        ? { status: 'canceled', canceled_at: inSeconds(Date.now()) }
        : { cancel_at_period_end: form['cancel_at_period_end'] === 'true' };
    return { status: 200, body: this.changeSubscription(id, changes) };
  }

  private openSession(form: Form): Reply {
    const items = form['line_items'] as Form | undefined;
    if (form['mode'] !== 'subscription' || !items || !form['success_url']) {
      return refused(400, 'invalid_request_error', 'Missing required param', 'parameter_missing');
    }
    const session = checkoutSession(form, 'https://checkout.stripe.example');
    this.sessions.set(session.id, session);
    return { status: 200, body: session };
  }

  private expireSession(id: string): Reply {
    const session = this.sessions.get(id);
    if (!session) return missing('checkout.session', id);
    if (session['status'] !== 'open') {
      return refused(
        400,
        'invalid_request_error',
        'Only Checkout Sessions with a status in ["open"] can be expired.',
      );
    }
    return { status: 200, body: this.change(this.sessions, id, { status: 'expired', url: null }) };
  }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const requestId = `req_${randomBytes(7).toString('hex')}`;
  response.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': requestId });
  response.end(JSON.stringify(body));
}
