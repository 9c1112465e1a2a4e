select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.f0 as "count", (select row_to_json(x.*) from (select t2.f1 as "score") x) as "sum" from (select count(*) as f0, sum(t1."score") as f1 from "public"."article" t1 where (t1."status" = $1::text)) t2) r
-- ["live"]
