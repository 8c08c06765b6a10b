import { Body, Controller, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  AllowedWhileSuspended,
  CurrentPrincipal,
  OpenDuringMfaSetup,
  SignedIn,
  type Principal,
} from '#guards';
import type { HostAddress } from '#rules';
import { EmptyDto } from '../http/empty.dto';
import { Answers } from '../docs/answers';
import { CallerAddress } from '../http/caller-address';
import { MfaCodeDto, MfaSetupDto, RecoveryCodesDto } from './dto/mfa.dto';
import { MfaService } from './mfa.service';

@ApiTags('MFA')
@SignedIn()
@AllowedWhileSuspended()
@OpenDuringMfaSetup()
@Controller('mfa')
export class MfaController {
  constructor(private readonly mfa: MfaService) {}

  @Post('setup')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Begin to set MFA up: a secret for an authenticator',
    description: 'Nothing changes until the first code is confirmed; asking again replaces the secret.',
  })
  @Answers({ 200: MfaSetupDto, errors: [401, 409] })
  async setUp(@CurrentPrincipal() principal: Principal): Promise<MfaSetupDto> {
    const { secret, otpauthUrl, qrCode } = await this.mfa.setUp(principal);
    return { secret, otpauthUrl, qrCodeBase64: qrCode.toString('base64') };
  }

  @Post('setup/confirm')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({
    summary: 'Turn MFA on with the authenticator’s first code',
    description: 'Every other sign-in of the user ends: it was made without the second factor.',
  })
  @Answers({ 200: RecoveryCodesDto, errors: [400, 401, 409] })
  async confirm(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() { code }: MfaCodeDto,
  ): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.confirm(principal, code, caller?.text ?? null) };
  }

  @Post('disable')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Turn MFA off; refused while the organization requires it' })
  @Answers({ 200: EmptyDto, errors: [400, 401] })
  async disable(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() { code }: MfaCodeDto,
  ): Promise<EmptyDto> {
    await this.mfa.disable(principal, code, caller?.text ?? null);
    return {};
  }

  @Post('recovery-codes/regenerate')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Replace the recovery codes: the old ones work no more' })
  @Answers({ 200: RecoveryCodesDto, errors: [400, 401] })
  async regenerate(
    @CurrentPrincipal() principal: Principal,
    @CallerAddress() caller: HostAddress | null,
    @Body() { code }: MfaCodeDto,
  ): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.regenerate(principal, code, caller?.text ?? null) };
  }
}
