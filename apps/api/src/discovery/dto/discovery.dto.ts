import { ApiProperty } from '@nestjs/swagger';
import { TEXT_OR_NULL } from '../../http/nullable';

export class DiscoveryDto {
  @ApiProperty({ example: '0.1.0', description: 'The release of the service' }) version!: string;

  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'https://ipv4.drawbridge.example.com',
    description:
      'The service over IPv4 only, to read one’s IPv4 address with GET /api/v1/detect-ip; null: none',
  })
  ipv4Url!: string | null;

  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'https://ipv6.drawbridge.example.com',
    description: 'The same over IPv6',
  })
  ipv6Url!: string | null;
}
