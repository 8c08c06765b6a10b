import { ApiProperty } from '@nestjs/swagger';

const issuer = 'https://drawbridge.example.com/oidc/6f1c2a90-8d0e-4c3b-9d5e-0a1b2c3d4e5f';

/** Names as in OpenID Connect Discovery 1.0. */
export class IssuerConfigurationDto {
  @ApiProperty({ example: issuer }) issuer!: string;
  @ApiProperty({ example: `${issuer}/jwks` }) jwks_uri!: string;
  @ApiProperty({
    example: 'urn:drawbridge:none',
    description: 'Required by the standard: there is no sign-in here',
  })
  authorization_endpoint!: string;
  @ApiProperty({ type: [String], example: ['id_token'] }) response_types_supported!: string[];
  @ApiProperty({ type: [String], example: ['public'] }) subject_types_supported!: string[];
  @ApiProperty({ type: [String], example: ['RS256'] }) id_token_signing_alg_values_supported!: string[];
  @ApiProperty({ type: [String], example: ['iss', 'sub', 'aud'] }) claims_supported!: string[];
}

/** A public key (RFC 7517). */
export class PublicKeyDto {
  @ApiProperty({ enum: ['RSA'] }) kty!: 'RSA';
  @ApiProperty({ enum: ['sig'] }) use!: 'sig';
  @ApiProperty({ enum: ['RS256'] }) alg!: 'RS256';
  @ApiProperty({
    example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    description: 'The thumbprint of the key (RFC 7638)',
  })
  kid!: string;
  @ApiProperty({ example: 'wK7oW2tE8Qd0c…', description: 'The modulus, base64url' }) n!: string;
  @ApiProperty({ example: 'AQAB', description: 'The exponent, base64url' }) e!: string;
}

export class PublicKeysDto {
  @ApiProperty({ type: [PublicKeyDto] }) keys!: readonly PublicKeyDto[];
}
