import { ApiProperty } from '@nestjs/swagger';

export class HealthDto {
  @ApiProperty({ example: 'UP', enum: ['UP'] }) status!: 'UP';
}

export class ReadinessDto {
  @ApiProperty({ example: 'UP', enum: ['UP', 'DEGRADED', 'DOWN'] }) status!: 'UP' | 'DEGRADED' | 'DOWN';
  @ApiProperty({
    example: 'UP',
    enum: ['UP', 'RESTORED', 'DOWN'],
    description: 'RESTORED: from a backup. Nothing is opened until an operator confirms',
  })
  database!: 'UP' | 'RESTORED' | 'DOWN';
  @ApiProperty({ example: 'UP', enum: ['UP', 'DOWN'] }) queue!: 'UP' | 'DOWN';
  @ApiProperty({
    example: 'UP',
    enum: ['UP', 'AWAY'],
    description: 'AWAY: no worker has looked for due rules for 20 seconds, or it is unknown',
  })
  worker!: 'UP' | 'AWAY';
}

export class DetectedAddressDto {
  @ApiProperty({ example: '203.0.113.7' }) ip!: string;
  @ApiProperty({ example: 'IPv4', enum: ['IPv4', 'IPv6'] }) version!: 'IPv4' | 'IPv6';
  @ApiProperty({
    type: [String],
    example: [],
    description:
      'What may keep the address from being let in. Whether others share it cannot be seen from here',
  })
  warnings!: readonly string[];
}
