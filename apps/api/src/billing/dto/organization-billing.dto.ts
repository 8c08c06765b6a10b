import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import { IsEmail, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import { HasNoHiddenCharacters, trimmed } from '../../http/text-fields';

const LINE = 200;

/** A line of the address: unchanged when omitted, removed by null. */
const Line = (example: string): PropertyDecorator =>
  // applied from first to last, unlike decorators above a property
  applyDecorators(
    IsString({ message: 'must be a string' }),
    HasNoHiddenCharacters(),
    IsNotEmpty({ message: 'must not be empty: null removes it' }),
    MaxLength(LINE, { message: `must be at most ${LINE} characters` }),
    trimmed(),
    IsOptional(),
    ApiPropertyOptional({ type: String, nullable: true, maxLength: LINE, example }),
  );

export class ChangeBillingDetailsDto {
  @Line('Example Ltd') companyName?: string | null;
  @Line('Ada Example') billingContactName?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, format: 'email', example: 'invoices@example.com' })
  @IsOptional()
  @trimmed()
  @IsEmail({}, { message: 'must be an e-mail address' })
  @IsString({ message: 'must be a string' })
  billingEmail?: string | null;

  @Line('1 Example Street') billingAddressLine1?: string | null;
  @Line('2nd floor') billingAddressLine2?: string | null;
  @Line('Berlin') billingCity?: string | null;
  @Line('10115') billingPostalCode?: string | null;
  @Line('BE') billingState?: string | null;
  @Line('DE') billingCountry?: string | null;
  @Line('DE123456789') vatNumber?: string | null;
}

const NULLABLE = { type: String, nullable: true } as const;

export class BillingDetailsDto {
  @ApiProperty(NULLABLE) companyName!: string | null;
  @ApiProperty(NULLABLE) billingContactName!: string | null;
  @ApiProperty(NULLABLE) billingEmail!: string | null;
  @ApiProperty(NULLABLE) billingAddressLine1!: string | null;
  @ApiProperty(NULLABLE) billingAddressLine2!: string | null;
  @ApiProperty(NULLABLE) billingCity!: string | null;
  @ApiProperty(NULLABLE) billingPostalCode!: string | null;
  @ApiProperty(NULLABLE) billingState!: string | null;
  @ApiProperty(NULLABLE) billingCountry!: string | null;
  @ApiProperty(NULLABLE) vatNumber!: string | null;
}
