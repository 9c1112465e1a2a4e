select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (t1."name"::text ilike $1::text or t1."body"::text ilike $2::text) order by t1."id" limit 100) r
-- ["%Zoë%","%Zoë%"]
