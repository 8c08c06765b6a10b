import type { CloudError } from '../../cloud-error';
import { serveCall, type CallModifiers, type Refusal } from '../../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../../provider';
import {
  anotherOperation,
  groupNotFound,
  internalError,
  invalidContent,
  ruleLimitReached,
} from '../azure-error';
import { tokenRefused, tooManyRequests, unauthorized } from '../azure-error';
import { locksAnswer, permissionsAnswer, render } from '../json-answer';
import type { Operations } from '../operations';
import { ARM_PREFIX, baseOf, CLIENT_ID } from '../principal';
import { ServiceCalls } from './service-calls';
import type { ServiceRoute } from './service-routes';
import type { Services } from './services';

/** The resource manager for services with a firewall of their own. */
export class ServiceEndpoint {
  private readonly calls: ServiceCalls;

  constructor(
    private readonly world: World,
    private readonly services: Services,
    operations: Operations,
    /** what the resource manager looks at before each call. @throws CloudError */
    private readonly check: (request: CloudRequest, isRead: boolean) => void,
  ) {
    this.calls = new ServiceCalls(
      services,
      operations,
      world.sizes.azureServiceRules,
      world.sizes.azureServerMs || undefined,
    );
  }

  handle(request: CloudRequest, route: ServiceRoute): Promise<CloudAnswer | typeof NO_ANSWER> {
    const { operation, effect, target, service } = route;
    const items = effect === 'add' || effect === 'remove' ? 1 : 0;
    const targets = target === null ? [] : [target];
    const call = { provider: 'AZURE', operation, effect, targets, items } as const;
    const perform = (how: CallModifiers, fails = false): CloudAnswer =>
      this.perform(request, route, how, fails);
    return serveCall(this.world, request.epoch, call, {
      check: () => {
        this.check(request, effect === 'read');
        if (!this.world.roles.allows('AZURE', route.action)) throw this.unauthorized(route, request);
      },
      perform,
      ...(service?.isSlow && { failLater: () => perform({}, true) }),
      refuse: (why) => this.refusal(why, route, request),
      render,
    });
  }

  private perform(
    request: CloudRequest,
    route: ServiceRoute,
    how: CallModifiers,
    fails: boolean,
  ): CloudAnswer {
    const { kind, service, target, collection, rule, id } = route;
    if (kind === 'operation') return this.calls.operation(id);
    if (!service || target === null) throw notFound(target);
    if (kind === 'permissions') return permissionsAnswer(this.world.roles.permissionsOf('AZURE'));
    if (kind === 'locks') return locksAnswer(this.services.locks.get(target));
    const base = baseOf(request);
    return this.calls[kind]({ request, service, target, collection, rule, how, fails, base });
  }

  private refusal(why: Refusal, route: ServiceRoute, request: CloudRequest): CloudError {
    const errors: Readonly<Record<Refusal, () => CloudError>> = {
      throttle: tooManyRequests,
      error: internalError,
      'not-found': () => notFound(route.target),
      quota: () => ruleLimitReached(route.service?.limit ?? 0),
      refuse: () => this.unauthorized(route, request),
      conflict: anotherOperation,
      invalid: () => invalidContent('a value is malformed.'),
      unauthenticated: tokenRefused,
    };
    return errors[why]();
  }

  private unauthorized({ action }: ServiceRoute, { path }: CloudRequest): CloudError {
    return unauthorized(CLIENT_ID, action, path.slice(ARM_PREFIX.length));
  }
}

const notFound = (target: string | null): CloudError =>
  groupNotFound(...((target ?? '/').split('/') as [string, string]));
