import { SetMetadata } from '@nestjs/common';
import { reflector, type Route } from './route';

const OPEN_DURING_MFA_SETUP = 'drawbridge:open-during-mfa-setup';

/** In addition to a policy: allows the route to users who still have to set up the required second factor. */
export const OpenDuringMfaSetup = (): ClassDecorator & MethodDecorator =>
  SetMetadata(OPEN_DURING_MFA_SETUP, true);

/** Whether the route is allowed with a token that is limited to setting up MFA. */
export const isOpenDuringMfaSetup = (...route: Route): boolean =>
  reflector.getAllAndOverride<boolean | undefined>(OPEN_DURING_MFA_SETUP, route) ?? false;
