import { SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

const OPEN_DURING_MFA_SETUP = 'drawbridge:open-during-mfa-setup';

/** Beside a policy: also for who signed in without the second factor that the organization asks for, to set it up. */
export const OpenDuringMfaSetup = (): ClassDecorator & MethodDecorator =>
  SetMetadata(OPEN_DURING_MFA_SETUP, true);

const reflector = new Reflector();

/** Whether a token that is good for setting up MFA only reaches the route. */
export const isOpenDuringMfaSetup = (
  handler: ReturnType<ExecutionContext['getHandler']>,
  controller: Type,
): boolean =>
  reflector.getAllAndOverride<boolean | undefined>(OPEN_DURING_MFA_SETUP, [handler, controller]) ?? false;
