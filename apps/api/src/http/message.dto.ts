import { ApiProperty } from '@nestjs/swagger';

/** The answer to a deed that has nothing else to show. */
export class MessageDto {
  @ApiProperty({ example: 'The resource is assigned to the role', description: 'what was done' })
  message!: string;
}
