import { ApiProperty } from '@nestjs/swagger';

/** The response to an action that returns no other data. */
export class MessageDto {
  @ApiProperty({ example: 'The resource is assigned to the role', description: 'what was done' })
  message!: string;
}
