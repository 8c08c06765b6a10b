import { Required, wholeNumber } from '../../http/fields';

export class ExtendSessionDto {
  @Required(wholeNumber(1, Infinity, 'of hours'), { example: 1 })
  additionalHours!: number;
}
