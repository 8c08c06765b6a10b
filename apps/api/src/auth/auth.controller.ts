import { Body, Controller, Get, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, OpenDuringMfaSetup, Public, SignedIn, type Principal } from '#guards';
import { Answers } from '../docs/answers';
import { CountedAs } from '../rate-limit/rate-limit.decorators';
import { toLoginAnswer, toMe, toRefreshAnswer } from './auth.mapper';
import { AuthService } from './auth.service';
import { LoginDto, RefreshTokenDto, RegisterDto, VerifyMfaDto } from './dto/credentials.dto';
import { EmptyDto } from '../http/empty.dto';
import { LoginAnswerDto, RefreshAnswerDto } from './dto/login-answer.dto';
import { MeDto } from './dto/me.dto';
import { RegistrationService } from './registration.service';
import { SecondFactorService } from './second-factor.service';
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
  ) {}

  @Post('register')
  @Public()
  @CountedAs(['password', 'registration'])
  @ApiOperation({ summary: 'Register an organization and sign its first administrator in' })
  @Answers({ 201: LoginAnswerDto, errors: [400] })
  async register(@Body() asked: RegisterDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.registration.register(asked, client));
  }

  @Post('login')
  @Public()
  @CountedAs(['password'])
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Sign in with e-mail and password',
    description:
      'One of four answers: tokens; `mfaRequired` with a challenge for POST /auth/verify-mfa; `passwordExpired` with a ' +
      'token for POST /auth/change-expired-password; `mfaSetupRequired` with tokens that reach only /mfa and /auth. ' +
      'After repeated failures the account is refused for a while with 429: for all but devices that have signed in ' +
      'before and send their `deviceToken`. An e-mail that more than three organizations know needs `organizationSlug`, ' +
      'but for the three oldest accounts.',
  })
  @Answers({ 200: LoginAnswerDto, errors: [400] })
  @ApiResponse({ status: 401, description: 'The e-mail or the password is wrong, or the user is not active' })
  async login(@Body() asked: LoginDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.auth.login(asked, client));
  }

  @Post('verify-mfa')
  @Public()
  @CountedAs(['password'])
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Sign in, second step: a code of the authenticator, or a recovery code',
    description: 'A challenge takes five codes within 300 seconds, and one right one.',
  })
  @Answers({ 200: LoginAnswerDto, errors: [400] })
  @ApiResponse({ status: 401, description: 'The code is wrong or was used before, or the challenge is over' })
  async verifyMfa(@Body() asked: VerifyMfaDto, @FromClient() client: SignInClient): Promise<LoginAnswerDto> {
    return toLoginAnswer(await this.secondFactor.verify(asked, client));
  }

  @Post('refresh')
  @Public()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Exchange a refresh token for a new pair of tokens',
    description:
      'The token sent is used up. Using it again revokes every token of its sign-in; only the one just replaced is ' +
      'forgiven for 10 seconds, and of its successors only the newest goes on. A sign-in ends after SIGN_IN_MAX_DAYS (30), ' +
      'and is not refreshed while the password is expired.',
  })
  @Answers({ 200: RefreshAnswerDto, errors: [400] })
  @ApiResponse({ status: 401, description: 'The refresh token is invalid, expired or revoked' })
  async refresh(
    @Body() asked: RefreshTokenDto,
    @FromClient() client: SignInClient,
  ): Promise<RefreshAnswerDto> {
    return toRefreshAnswer(await this.tokens.rotate(asked.refreshToken, client));
  }

  @Post('logout')
  @Public()
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Sign out: revoke a refresh token and all of its sign-in',
    description: 'A token that was worth nothing already is no error.',
  })
  @Answers({ 200: EmptyDto, errors: [400] })
  async logout(@Body() asked: RefreshTokenDto, @FromClient() client: SignInClient): Promise<EmptyDto> {
    await this.tokens.revoke(asked.refreshToken, client.address);
    return {};
  }

  @Get('me')
  @SignedIn()
  @OpenDuringMfaSetup()
  @ApiOperation({ summary: 'Show who is signed in' })
  @Answers({ 200: MeDto, errors: [401] })
  async me(@CurrentPrincipal() principal: Principal): Promise<MeDto> {
    return toMe(principal, await this.auth.profile(principal));
  }
}
