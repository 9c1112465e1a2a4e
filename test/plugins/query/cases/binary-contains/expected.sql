select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (translate(encode(t1."bytes", 'base64'), e'\n', '')::text like $1::text) order by t1."id" limit 100) r
-- ["%q2+7%"]
