import { Body, Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  AllowedWhileSuspended,
  CurrentPrincipal,
  OpenDuringMfaSetup,
  SignedIn,
  type Principal,
} from '#guards';
import { CurrentActor, type Actor } from '../http/actor';
import { EmptyDto } from '../http/empty.dto';
import { Answers } from '../docs/answers';
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
  @ApiOperation({
    summary: 'Start the MFA setup: get a secret for an authenticator',
    description:
      'MFA stays disabled until the first code is confirmed. A repeated request replaces the secret.',
  })
  @Answers({ 200: MfaSetupDto, errors: [401, 409] })
  async setUp(@CurrentPrincipal() principal: Principal): Promise<MfaSetupDto> {
    const { secret, otpauthUrl, qrCode } = await this.mfa.setUp(principal);
    return { secret, otpauthUrl, qrCodeBase64: qrCode.toString('base64') };
  }

  @Post('setup/confirm')
  @ApiOperation({
    summary: 'Enable MFA with the first code of the authenticator',
    description: 'All other sign-ins of the user end, because they were made without the second factor.',
  })
  @Answers({ 200: RecoveryCodesDto, errors: [400, 401, 409] })
  async confirm(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.confirm(actor, code) };
  }

  @Post('disable')
  @ApiOperation({ summary: 'Disable MFA; refused while the organization requires it' })
  @Answers({ 200: EmptyDto, errors: [400, 401] })
  async disable(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<EmptyDto> {
    await this.mfa.disable(actor, code);
    return {};
  }

  @Post('recovery-codes/regenerate')
  @ApiOperation({ summary: 'Replace the recovery codes; the old ones become invalid' })
  @Answers({ 200: RecoveryCodesDto, errors: [400, 401] })
  async regenerate(@CurrentActor() actor: Actor, @Body() { code }: MfaCodeDto): Promise<RecoveryCodesDto> {
    return { recoveryCodes: await this.mfa.regenerate(actor, code) };
  }
}
