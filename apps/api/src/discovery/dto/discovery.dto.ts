import { ApiProperty } from '@nestjs/swagger';

const URL = { type: String, nullable: true } as const;

export class DiscoveryDto {
  @ApiProperty({ example: '0.1.0', description: 'The release of the service' }) version!: string;

  @ApiProperty({
    ...URL,
    example: 'https://ipv4.drawbridge.example.com',
    description:
      'The service over IPv4 only, to read one’s IPv4 address with GET /api/v1/detect-ip; null: none',
  })
  ipv4Url!: string | null;

  @ApiProperty({
    ...URL,
    example: 'https://ipv6.drawbridge.example.com',
    description: 'The same over IPv6',
  })
  ipv6Url!: string | null;
}
