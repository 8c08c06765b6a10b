import { ApiProperty } from '@nestjs/swagger';
import { opaque, Required, TIME } from '../../http/fields';

export class MfaCodeDto {
  @Required(opaque(1, 100), {
    example: '492039',
    description: 'an authenticator code or, once MFA is enabled, a recovery code; each is accepted once',
  })
  code!: string;
}

export class MfaSetupDto {
  @ApiProperty({
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    description: 'base32, for entering it in an authenticator manually',
  })
  secret!: string;

  @ApiProperty({
    example: 'otpauth://totp/Drawbridge:ada%40example.com?issuer=Drawbridge&secret=JBSWY3DPEHPK3PXP',
  })
  otpauthUrl!: string;

  @ApiProperty({ example: 'iVBORw0KGgo…', description: 'otpauthUrl as a QR code: PNG, base64' })
  qrCodeBase64!: string;
}

export class RecoveryCodesDto {
  @ApiProperty({
    type: [String],
    example: ['x7k2-9qmp-3vhd-t04z'],
    description: 'eight codes for a lost authenticator; each is accepted once, and they are not shown again',
  })
  recoveryCodes!: string[];
}

export class SteppedUpDto {
  @ApiProperty({ ...TIME, description: 'Until when it counts' }) provenUntil!: Date;
}
