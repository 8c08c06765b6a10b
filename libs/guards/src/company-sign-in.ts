import { ForbiddenException } from '@nestjs/common';

/** A password, or a sign-in with one, of a user whom an identity provider must vouch for. */
export class CompanySignInRequired extends ForbiddenException {
  /** in the error body, instead of the reason phrase */
  readonly code = 'Company sign-in required';

  constructor() {
    super(
      'Sign in with your company account: "Company sign-in" in the console, or drawbridge login --sso. Passwords are for the ' +
        'recovery administrator only',
    );
  }
}
