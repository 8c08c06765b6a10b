import { SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

const OPEN_DURING_MFA_SETUP = 'drawbridge:open-during-mfa-setup';

/** In addition to a policy: allows the route to users who still have to set up the required second factor. */
export const OpenDuringMfaSetup = (): ClassDecorator & MethodDecorator =>
  SetMetadata(OPEN_DURING_MFA_SETUP, true);

const reflector = new Reflector();

/** Whether the route is allowed with a token that is limited to setting up MFA. */
export const isOpenDuringMfaSetup = (
  handler: ReturnType<ExecutionContext['getHandler']>,
  controller: Type,
): boolean =>
  reflector.getAllAndOverride<boolean | undefined>(OPEN_DURING_MFA_SETUP, [handler, controller]) ?? false;
