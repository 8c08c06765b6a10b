import { Body, Controller, Get, Param, Post, Query, Redirect, Req } from '@nestjs/common';
import { ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '#guards';
import { toLoginAnswer } from '../auth/auth.mapper';
import { LoginAnswerDto } from '../auth/dto/login-answer.dto';
import { SignsIn } from '../auth/refresh-cookie';
import { FromClient, type SignInClient } from '../auth/sign-in-client';
import { Operation } from '../docs/operation';
import { callerAddressOf } from '../http/caller-address';
import { CountedAs } from '../rate-limit/rate-limit.decorators';
import { CompleteSsoDto, OfferedProvidersDto, StartSsoDto } from './dto/sso-sign-in.dto';
import { SsoCallbackService } from './sso-callback.service';
import { SsoSignInService } from './sso-sign-in.service';

interface RedirectTo {
  readonly url: string;
}

const SLUG = { name: 'slug', example: 'example-ltd', description: 'of the organization' } as const;
const fromIssuer = (name: string, description: string): MethodDecorator =>
  ApiQuery({ name, required: false, schema: { type: 'string' }, description });

@ApiTags('Company sign-in')
@Controller('auth/sso')
export class SsoSignInController {
  constructor(
    private readonly signIns: SsoSignInService,
    private readonly callbacks: SsoCallbackService,
  ) {}

  @Get(':slug/providers')
  @Public()
  @ApiParam(SLUG)
  @Operation(
    'List the identity providers that people of an organization can sign in with',
    { 200: OfferedProvidersDto },
    'The list is empty for an unknown organization, too.',
  )
  async providers(@Param('slug') slug: string): Promise<OfferedProvidersDto> {
    const offered = await this.signIns.listOffered(slug.toLowerCase());
    return { items: offered.map(({ id, name }) => ({ id, name })) };
  }

  @Get(':slug')
  @Public()
  @Redirect()
  @ApiParam(SLUG)
  @Operation(
    'Begin a company sign-in: redirects a browser to the identity provider',
    { 302: null, headers: ['Location'], errors: [404] },
    'When the identity provider cannot be asked, the browser is sent to `returnTo` with an error.',
  )
  async start(@Param('slug') slug: string, @Query() query: StartSsoDto): Promise<RedirectTo> {
    return { url: await this.signIns.start(slug.toLowerCase(), query) };
  }

  @Get(':slug/callback')
  @Public()
  @Redirect()
  @ApiParam(SLUG)
  @fromIssuer('state', 'which sign-in it answers')
  @fromIssuer('code', 'of the identity provider')
  @fromIssuer('iss', 'which identity provider answers (RFC 9207)')
  @fromIssuer('error', 'why there is no code')
  @Operation(
    'Take the answer of an identity provider: redirects the browser to where the sign-in began',
    { 302: null, headers: ['Location'] },
    'The redirect URI to register at the identity provider. A browser that comes back with a sign-in that has ended, or was ' +
      'answered before, is sent to the console, which says so; without a console it gets 400.',
  )
  async callback(@Param('slug') slug: string, @Req() request: Request): Promise<RedirectTo> {
    const { searchParams } = new URL(request.originalUrl, 'http://localhost');
    return { url: await this.callbacks.answer(slug.toLowerCase(), searchParams, callerAddressOf(request)) };
  }

  @Post('complete')
  @Public()
  @CountedAs(['password'])
  @SignsIn()
  @Operation(
    'Complete a company sign-in with the one-time code that the browser brought back',
    { 200: LoginAnswerDto, errors: [403], headers: ['Set-Cookie'] },
    'Answers as POST /auth/login does: tokens, or what is missing. `passwordExpired` is never true. The second factor of the ' +
      'identity provider counts where the organization trusts it; not for an identity that an administrator has linked to an ' +
      'account in use: that takes the account’s own, once, and is 403 while it has none. The code is used up by this request, ' +
      'whatever the answer is.',
  )
  @ApiResponse({ status: 401, description: 'The code is over, or of a sign-in that another client began' })
  async complete(@Body() dto: CompleteSsoDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.signIns.complete(dto, client));
  }
}
