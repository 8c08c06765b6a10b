import { ApiProperty } from '@nestjs/swagger';
import { OIDC_PRESETS, type OidcPreset } from '#entities';
import { TEXT_OR_NULL } from '../../http/nullable';

export class DemandedClaimDto {
  @ApiProperty({ example: 'ref_protected' }) claim!: string;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: '["true"]',
    description: 'what each value must be; null: anything',
  })
  words!: string | null;
}

export class RefusedClaimDto {
  @ApiProperty({ example: 'sub' }) claim!: string;
  @ApiProperty({ example: 'its form depends on settings of the repository' }) reason!: string;
}

export class OidcPresetDto {
  @ApiProperty({ enum: OIDC_PRESETS, enumName: 'OidcPreset' }) preset!: OidcPreset;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'https://gitlab.com',
    description: 'of a trust that names none; null: it has to',
  })
  issuer!: string | null;
  @ApiProperty({ type: [String], example: ['project_id'], description: 'claims that conditions must name' })
  demanded!: readonly string[];
  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { $ref: '#/components/schemas/DemandedClaimDto' } },
    description: 'conditions must name all claims of one of these lists, too',
  })
  oneOf!: DemandedClaimDto[][];
  @ApiProperty({ type: [RefusedClaimDto], description: 'claims that conditions must not name' })
  refused!: RefusedClaimDto[];
}
