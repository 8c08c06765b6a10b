import { ApiProperty } from '@nestjs/swagger';

export class DownloadDto {
  @ApiProperty({ example: 'drawbridge-agent.cjs' }) name!: string;
  @ApiProperty({ example: 94_355, description: 'bytes' }) size!: number;
  @ApiProperty({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' })
  sha256!: string;
  @ApiProperty({ example: 'The agent as one file, for hosts with Node.js' }) description!: string;
}
