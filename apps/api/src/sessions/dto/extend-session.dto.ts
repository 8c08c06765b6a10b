import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Min } from 'class-validator';

export class ExtendSessionDto {
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number of hours' })
  additionalHours!: number;
}
