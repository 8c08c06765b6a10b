import { Body, Controller, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  AllowedWhileSuspended,
  CurrentPrincipal,
  OpenDuringMfaSetup,
  Public,
  SignedIn,
  type Principal,
} from '#guards';
import type { HostAddress } from '#rules';
import { Answers } from '../docs/answers';
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
import { PasswordChangeService } from './password-change.service';
import { PasswordResetService } from './password-reset.service';
import { PasswordTokensService } from './password-tokens.service';
import { FromClient, type SignInClient } from './sign-in-client';

@ApiTags('Accounts and tokens')
@CountedAs(['password'])
@Controller('auth')
export class PasswordsController {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly tokens: PasswordTokensService,
    private readonly resets: PasswordResetService,
  ) {}

  @Post('change-password')
  @AllowedWhileSuspended()
  @SignedIn()
  @OpenDuringMfaSetup()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Change your password',
    description: 'Your other sign-ins end: their refresh tokens work no more.',
  })
  @Answers({ 200: EmptyDto, errors: [400, 401] })
  async change(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() asked: ChangePasswordDto,
  ): Promise<EmptyDto> {
    await this.passwords.change(principal, asked, caller?.text ?? null);
    return {};
  }

  @Post('change-expired-password')
  @Public()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Replace a password that expired, and sign in' })
  @Answers({ 200: LoginAnswerDto, errors: [400] })
  async changeExpired(
    @Body() asked: ChangeExpiredPasswordDto,
    @FromClient() client: SignInClient,
  ): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.changeExpired(asked, client));
  }

  @Post('forgot-password')
  @Public()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({
    summary: 'Have a link mailed that sets a new password',
    description:
      'The answer is the same whether there is such an account or not. A link works once, for an hour.',
  })
  @Answers({ 204: null, errors: [400] })
  async forgot(@Body() asked: ForgotPasswordDto, @CallerAddress() caller: HostAddress | null): Promise<void> {
    await this.resets.request(asked, caller?.text ?? null);
  }

  @Post('reset-password')
  @Public()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Set a new password with a mailed token, and sign in' })
  @Answers({ 200: LoginAnswerDto, errors: [400] })
  async reset(@Body() asked: ResetPasswordDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.reset(asked, client));
  }

  @Post('set-password')
  @Public()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Accept an invitation: set a first password, and sign in' })
  @Answers({ 200: LoginAnswerDto, errors: [400] })
  async accept(@Body() asked: SetPasswordDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.tokens.accept(asked, client));
  }
}
