select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (t1."ok" = $1::boolean and t1."price" > $2::numeric and t1."price" < $3::numeric) order by t1."id" limit 100) r
-- [true,"5","50"]
