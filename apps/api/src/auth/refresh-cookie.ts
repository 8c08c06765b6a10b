import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { forbidden, unauthorized } from '../errors';
import { CONSOLE_HEADER, isFromConsole } from '../http/console-header';
import { PublicAddress } from '../http/public-address';
import { COOKIE_IDLE_SECONDS, isForCookie, type TokenRequest } from './dto/refresh-token-place';

/** The cookie with the refresh token of a browser: no script reads it, and no other site's page sends it. */
@Injectable()
export class RefreshCookie {
  constructor(private readonly address: PublicAddress) {}

  /** The token it holds; null: the browser has none. */
  read({ headers: { cookie = '' } }: Pick<Request, 'headers'>): string | null {
    const start = `${this.name}=`;
    const pair = cookie.split('; ').find((one) => one.startsWith(start));
    return pair === undefined ? null : pair.slice(start.length);
  }

  set(response: Response, token: string): void {
    this.write(response, token, COOKIE_IDLE_SECONDS);
  }

  clear(response: Response): void {
    this.write(response, '', 0);
  }

  /** Whether a request comes from a page of this origin. Browsers set both headers; no page can. */
  isOwnOrigin({ headers }: Pick<Request, 'headers'>): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    return headers.origin === this.address.origin;
  }

  private write(response: Response, value: string, seconds: number): void {
    const secure = this.isSecure ? '; Secure' : '';
    response.append(
      'Set-Cookie',
      `${this.name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
    );
  }

  /** The prefix makes browsers refuse a cookie of this name from any other host, and without Secure. */
  private get name(): string {
    return this.isSecure ? '__Host-drawbridge' : 'drawbridge';
  }

  private get isSecure(): boolean {
    return this.address.of('').startsWith('https:');
  }
}

interface Answer {
  readonly refreshToken?: string | null;
}

/** Moves the refresh token of an answer into the cookie, when the request says so. An answer that never has one clears it. */
@Injectable()
class TokenIntoCookie implements NestInterceptor {
  constructor(private readonly cookie: RefreshCookie) {}

  intercept(context: ExecutionContext, next: CallHandler<Answer>): Observable<Answer> {
    const http = context.switchToHttp();
    if (!isForCookie(http.getRequest<TokenRequest>())) return next.handle();
    return next.handle().pipe(
      map((answer) => {
        const { refreshToken } = answer;
        if (refreshToken === undefined) this.cookie.clear(http.getResponse<Response>());
        if (!refreshToken) return answer;
        this.cookie.set(http.getResponse<Response>(), refreshToken);
        return { ...answer, refreshToken: null };
      }),
    );
  }
}

type AskedForToken = Request<object, unknown, TokenRequest['body']>;

/** Lets the cookie stand in for a body without `refreshToken`. The answer's then goes there, too. */
@Injectable()
class TokenFromCookie implements NestInterceptor {
  constructor(private readonly cookie: RefreshCookie) {}

  /** @throws ApiError 403 for a cookie that the console did not send, 401 when the console has none */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AskedForToken>();
    if (request.body.refreshToken === undefined) this.fill(request);
    return next.handle();
  }

  private fill(request: AskedForToken): void {
    const refreshToken = this.cookie.read(request);
    const isConsole = isFromConsole(request);
    // neither: a client that forgot the field, which its validation says
    if (refreshToken === null && !isConsole) return;
    if (!isConsole || !this.cookie.isOwnOrigin(request)) {
      throw forbidden(
        `The cookie counts only with ${CONSOLE_HEADER}: 1, from a page of this service's own origin`,
      );
    }
    if (refreshToken === null) throw unauthorized('The cookie of this browser is missing or has expired');
    request.body = { ...request.body, refreshToken, refreshTokenIn: 'cookie' };
  }
}

/** Handler decorator: a sign-in, whose refresh token may go into the cookie. */
export const SignsIn = (): MethodDecorator => UseInterceptors(TokenIntoCookie);

/** Handler decorator: takes a refresh token, in the body or in the cookie. */
export const TakesRefreshToken = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(TokenFromCookie, TokenIntoCookie),
    ApiHeader({
      name: CONSOLE_HEADER,
      required: false,
      description:
        '`1`: without `refreshToken` in the body the cookie is read. Only from a page of the service’s own origin, as ' +
        '`Sec-Fetch-Site` says, or `Origin` where a browser does not send it',
      schema: { type: 'string', enum: ['1'] },
    }),
    ApiResponse({
      status: 403,
      description: 'The cookie was sent by another page than one of the service’s own, or without the header',
    }),
  );
