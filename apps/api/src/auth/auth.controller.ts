import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, OpenDuringMfaSetup, Public, SignedIn, type Principal } from '#guards';
import { ApiSettings } from '../api.settings';
import { Operation } from '../docs/operation';
import { CountedAs } from '../rate-limit/rate-limit.decorators';
import { toLoginAnswer, toMe, toRefreshAnswer } from './auth.mapper';
import { AuthService } from './auth.service';
import { LoginDto, LogoutDto, RefreshDto, RegisterDto, VerifyMfaDto } from './dto/credentials.dto';
import { EmptyDto } from '../http/empty.dto';
import { LoginAnswerDto, RefreshAnswerDto } from './dto/login-answer.dto';
import { MeDto } from './dto/me.dto';
import { RegistrationService } from './registration.service';
import { SecondFactorService } from './second-factor.service';
import { SignsIn, TakesRefreshToken } from './refresh-cookie';
import { FromClient, type SignInClient } from './sign-in-client';
import { TokenService } from './token.service';

@ApiTags('Accounts and tokens')
@Controller('auth')
export class AuthController {
  constructor(
    private readonly registration: RegistrationService,
    private readonly auth: AuthService,
    private readonly secondFactor: SecondFactorService,
    private readonly tokens: TokenService,
    private readonly settings: ApiSettings,
  ) {}

  @Post('register')
  @Public()
  @CountedAs(['password', 'registration'])
  @SignsIn()
  @Operation('Register an organization and sign in its first administrator', {
    201: LoginAnswerDto,
    headers: ['Set-Cookie'],
  })
  @ApiResponse({ status: 403, description: 'Registration is closed: an operator creates organizations' })
  async register(@Body() dto: RegisterDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.registration.register(dto, client));
  }

  @Post('login')
  @Public()
  @CountedAs(['password'])
  @SignsIn()
  @Operation(
    'Sign in with e-mail and password',
    { 200: LoginAnswerDto, errors: [403], headers: ['Set-Cookie'] },
    'Returns one of four responses: tokens; `mfaRequired` with a challenge for POST /auth/verify-mfa; `passwordExpired` ' +
      'with a token for POST /auth/change-expired-password; `mfaSetupRequired` with tokens that are valid for /mfa and ' +
      '/auth only. After repeated failures the account is locked temporarily (429), except for devices that have signed ' +
      'in before and send their `deviceToken`. Without `organizationSlug` the three oldest accounts with ' +
      'the e-mail are tried: others need it.',
  )
  @ApiResponse({ status: 401, description: 'The e-mail or the password is wrong, or the user is not active' })
  async login(@Body() dto: LoginDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.auth.login(dto, client));
  }

  @Post('verify-mfa')
  @Public()
  @CountedAs(['password'])
  @SignsIn()
  @Operation(
    'Complete a sign-in with an authenticator code or a recovery code',
    { 200: LoginAnswerDto, errors: [403], headers: ['Set-Cookie'] },
    'A challenge accepts five attempts within 300 seconds and one correct code.',
  )
  @ApiResponse({
    status: 401,
    description: 'The code is wrong or was used before, or the challenge has ended',
  })
  async verifyMfa(@Body() dto: VerifyMfaDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.secondFactor.verify(dto, client));
  }

  @Post('refresh')
  @Public()
  @TakesRefreshToken()
  @Operation(
    'Exchange a refresh token for a new pair of tokens',
    { 200: RefreshAnswerDto, errors: [403], headers: ['Set-Cookie'] },
    'The refresh token can be used once. Reuse revokes all tokens of the sign-in, except for the most recently replaced ' +
      'token within 10 seconds; of its successors only the newest remains valid. `refreshToken` in the body with ' +
      '`refreshTokenIn: "cookie"` moves a token into the cookie. A sign-in ends after SIGN_IN_MAX_DAYS ' +
      '(30) and is not refreshed while the password is expired.',
  )
  @ApiResponse({ status: 401, description: 'The refresh token is invalid, expired or revoked' })
  async refresh(@Body() dto: RefreshDto, @FromClient() client: SignInClient): Promise<RefreshAnswerDto> {
    return toRefreshAnswer(await this.tokens.rotate(dto.refreshToken, client));
  }

  @Post('logout')
  @Public()
  @TakesRefreshToken()
  @Operation(
    'Sign out: revoke all tokens of a sign-in',
    { 200: EmptyDto, headers: ['Set-Cookie'] },
    'An invalid token is not an error. The cookie is cleared when the token came from it.',
  )
  @ApiResponse({ status: 401, description: 'The console has no cookie' })
  async logout(@Body() dto: LogoutDto, @FromClient() client: SignInClient): Promise<EmptyDto> {
    await this.tokens.revoke(dto.refreshToken, client.address);
    return {};
  }

  @Get('me')
  @SignedIn()
  @OpenDuringMfaSetup()
  @Operation('Get the signed-in user', { 200: MeDto })
  async me(@CurrentPrincipal() principal: Principal): Promise<MeDto> {
    return toMe(principal, await this.auth.profile(principal), this.settings.SESSION_DEFAULT_HOURS);
  }
}
