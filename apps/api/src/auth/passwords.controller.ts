import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AllowedWhileLockedDown, AllowedWhileSuspended, OpenDuringMfaSetup, Public, SignedIn } from '#guards';
import type { HostAddress } from '#rules';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { CallerAddress } from '../http/caller-address';
import { CountedAs } from '../rate-limit/rate-limit.decorators';
import { toLoginAnswer } from './auth.mapper';
import { EmptyDto } from '../http/empty.dto';
import { LoginAnswerDto } from './dto/login-answer.dto';
import {
  ChangeExpiredPasswordDto,
  ChangePasswordDto,
  ForgotPasswordDto,
  ResetPasswordDto,
  SetPasswordDto,
} from './dto/password.dto';
import { PasswordLinkUseDto, PasswordLinkRequestDto } from './dto/password-link.dto';
import { PasswordChangeService } from './password-change.service';
import { PasswordLinkService } from './password-link.service';
import { PasswordResetService } from './password-reset.service';
import { PasswordTokensService } from './password-tokens.service';
import { SignsIn } from './refresh-cookie';
import { FromClient, type SignInClient } from './sign-in-client';

@ApiTags('Accounts and tokens')
@CountedAs(['password'])
@Controller('auth')
export class PasswordsController {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly tokens: PasswordTokensService,
    private readonly resets: PasswordResetService,
    private readonly links: PasswordLinkService,
  ) {}

  @Post('change-password')
  @AllowedWhileLockedDown()
  @AllowedWhileSuspended()
  @SignedIn()
  @OpenDuringMfaSetup()
  @Operation(
    'Change your password',
    { 200: EmptyDto },
    'Your other sign-ins end: their refresh tokens are revoked.',
  )
  async change(@CurrentActor() actor: Actor, @Body() dto: ChangePasswordDto): Promise<EmptyDto> {
    await this.passwords.change(actor, dto);
    return {};
  }

  @Post('change-expired-password')
  @Public()
  @SignsIn()
  @Operation('Replace an expired password and sign in', {
    200: LoginAnswerDto,
    errors: [403],
    headers: ['Set-Cookie'],
  })
  async changeExpired(
    @Body() dto: ChangeExpiredPasswordDto,
    @FromClient() client: SignInClient,
  ): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.changeExpired(dto, client));
  }

  @Post('forgot-password')
  @Public()
  @Operation(
    'Request a password-reset link by mail',
    { 204: null },
    'The response is the same whether the account exists or not. A link is valid once, for an hour. A deployment without ' +
      'a mail server answers 400: an administrator gives the user a link from POST /users/{id}/password-link.',
  )
  async forgot(@Body() dto: ForgotPasswordDto, @CallerAddress() address: HostAddress | null): Promise<void> {
    await this.resets.request(dto, address);
  }

  @Post('password-link')
  @Public()
  @Operation(
    'Get what an invitation or a link for a new password is for',
    { 200: PasswordLinkUseDto, errors: [404] },
    'The link stays as good as it was: what a form shows before a password is entered.',
  )
  link(@Body() { token }: PasswordLinkRequestDto): Promise<PasswordLinkUseDto> {
    return this.links.find(token);
  }

  @Post('reset-password')
  @Public()
  @SignsIn()
  @Operation('Set a new password with a mailed token and sign in', {
    200: LoginAnswerDto,
    errors: [403],
    headers: ['Set-Cookie'],
  })
  async reset(@Body() dto: ResetPasswordDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.reset(dto, client));
  }

  @Post('set-password')
  @Public()
  @SignsIn()
  @Operation('Accept an invitation: set a first password and sign in', {
    200: LoginAnswerDto,
    errors: [403],
    headers: ['Set-Cookie'],
  })
  async accept(@Body() dto: SetPasswordDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.accept(dto, client));
  }
}
