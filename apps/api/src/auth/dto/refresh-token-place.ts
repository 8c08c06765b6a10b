import { oneOf, Optional } from '../../http/fields';

/** How long a browser may do nothing before it is signed out: the cookie's life, and that of the token in it. */
export const COOKIE_IDLE_SECONDS = 12 * 60 * 60;

export type RefreshTokenPlace = 'body' | 'cookie';

/** A request that issues or takes a refresh token. */
export interface TokenRequest {
  body: { readonly refreshToken?: unknown; readonly refreshTokenIn?: unknown };
}

/** Whether the answer's refresh token goes into the cookie. */
export const isForCookie = ({ body }: TokenRequest): boolean => body.refreshTokenIn === 'cookie';

/** Field of a request: where the answer's refresh token goes. */
export const RefreshTokenIn = (): PropertyDecorator =>
  Optional(oneOf(['body', 'cookie'] satisfies RefreshTokenPlace[]), {
    default: 'body',
    description:
      '`cookie`: `refreshToken` is null in the response, and a cookie that no script can read holds the token, for 12 ' +
      'idle hours',
  });
