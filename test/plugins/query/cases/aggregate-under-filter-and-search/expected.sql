select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.f0 as "count" from (select count(*) as f0 from "public"."article" t1 where (t1."score" is not null) and (t1."title"::text ilike $1::text or t1."topic"::text ilike $2::text or t1."status"::text ilike $3::text)) t2) r
-- ["%a%","%a%","%a%"]
