import { ApiSchema } from '@nestjs/swagger';

/** No fields. */
@ApiSchema({ description: 'an empty object' })
export class EmptyDto {}
