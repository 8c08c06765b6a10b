import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';

export class MfaCodeDto {
  @ApiProperty({
    example: '492039',
    description: 'an authenticator code or, once MFA is enabled, a recovery code; each is accepted once',
  })
  @Length(1, 100, { message: 'code must have 1 to 100 characters' })
  @IsString({ message: 'code must be a text' })
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
